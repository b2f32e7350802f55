/*
 * The change is a JSON patch that sets the resourceVersion that was read: if
 * somebody else changes the workload in between, the API server refuses it.
 */
#include "cmd/kubectl-pprof/enable.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/kubectl-pprof/certificate.h"
#include "cmd/kubectl-pprof/tls_secret.h"
#include "kube/workload.h"

#define REPLY_MAX     ((size_t)16 << 20)
#define DEFAULT_IMAGE "pprof-c:latest"

/* A workload, and what shall change of it. */
struct change {
    struct session *session;
    const char *name; /* deploy/web, as the user wrote it */
    const char *own_name, *namespace_name;
    struct edit *edit;
    struct tls_secret secret; /* name NULL: none */
};

/* Runs kubectl VERB NAME … in the right namespace. */
static bool call(struct change *c, const char *verb, const char *const *more,
                 struct buf *out, struct kubectl_failure *why)
{
    struct session *s = c->session;
    const char *args[16] = {verb, c->name};
    size_t n = 2;

    while (*more)
        args[n++] = *more++;
    if (s->args->namespace_name) {
        args[n++] = "--namespace";
        args[n++] = s->args->namespace_name;
    }
    return kubectl_run(&s->kubectl, args, STR(""), out, why);
}

static const char *text_at(struct change *c, const char *path)
{
    struct buf b = arena_buf(c->session->arena);

    return edit_text(c->edit, path, &b) ? buf_cstr(&b) : "";
}

static int complain(struct change *c, const struct error *err)
{
    session_say("%s: %s", c->name, err->text);
    return EXIT_FAILED;
}

static bool read_workload(struct change *c, int *code)
{
    static const char *const as_json[] = {"-o", "json", NULL};
    struct buf reply = BUF_INIT(REPLY_MAX);
    struct kubectl_failure why;
    struct error err;

    if (!call(c, "get", as_json, &reply, &why))
        *code = session_fail(c->session, NULL, &why);
    else if (!(c->edit = edit_new(buf_str(&reply), &err)))
        *code = complain(c, &err);
    buf_release(&reply);
    if (!c->edit)
        return false;
    c->own_name = text_at(c, "metadata/name");
    c->namespace_name = text_at(c, "metadata/namespace");
    return true;
}

static bool begin(struct session *s, struct change *c, int *code)
{
    const struct words *names = &s->args->names;

    *c = (struct change){.session = s};
    if (names->list.n != 1 || !strchr(names->list.v[0], '/')) {
        session_say("%s needs one workload, such as deploy/web",
                    s->args->command);
        *code = EXIT_USAGE;
        return false;
    }
    c->name = names->list.v[0];
    return read_workload(c, code);
}

static void end(struct change *c)
{
    tls_secret_release(&c->secret);
    edit_free(c->edit);
}

static bool agrees(const struct session *s)
{
    char answer[16];

    if (s->args->yes)
        return true;
    fprintf(stderr, "Go on? [y/N] ");
    return fgets(answer, sizeof(answer), stdin) &&
           (answer[0] == 'y' || answer[0] == 'Y');
}

/* The version that was read goes into the patch. */
static void pin_version(struct change *c)
{
    struct buf version = arena_buf(c->session->arena);

    buf_add_json(&version, str_from(text_at(c, "metadata/resourceVersion")));
    edit_put_plain(c->edit, "metadata/resourceVersion", buf_cstr(&version));
}

static bool send_patch(struct change *c, const char *patch, bool dry_run,
                       struct kubectl_failure *why)
{
    const char *const more[] = {"--type=json", "-p", patch,
                                dry_run ? "--dry-run=server" : NULL, NULL};
    struct buf out = BUF_INIT(REPLY_MAX);
    bool ok = call(c, "patch", more, &out, why);

    buf_release(&out);
    return ok;
}

static void show(struct change *c, char secret_sign)
{
    struct buf text = BUF_INIT(REPLY_MAX);

    edit_show(c->edit, &text);
    printf("%s in namespace %s:\n%s", c->name, c->namespace_name,
           buf_cstr(&text));
    if (secret_sign)
        printf("%c Secret %s/%s (tls.crt, tls.key, ca.crt; valid for %d "
               "days)\n",
               secret_sign, c->namespace_name, c->secret.name,
               CERTIFICATE_DAYS);
    printf("Its pods will be replaced by a rollout.\n");
    fflush(stdout);
    buf_release(&text);
}

static int refuse(void)
{
    session_say("nothing was changed");
    return session_is_stopped() ? EXIT_INTERRUPTED : EXIT_FAILED;
}

/* After an agreement; what was begun and fails is taken back. */
static int carry_out(struct change *c, const char *patch, bool removes)
{
    struct session *s = c->session;
    struct kubectl_failure why, ignored;
    bool made = c->secret.name && !removes && !c->secret.is_there;

    if (made && !tls_secret_create(&c->secret, false, &why))
        return session_fail(s, c->secret.name, &why);
    if (!send_patch(c, patch, false, &why)) {
        int code = session_fail(s, c->name, &why);

        if (made)
            tls_secret_remove(&c->secret, &ignored);
        return code;
    }
    if (c->secret.name && removes && !tls_secret_remove(&c->secret, &why))
        return session_fail(s, c->secret.name, &why);
    return EXIT_OK;
}

static int apply(struct change *c, bool removes)
{
    struct session *s = c->session;
    struct buf patch = arena_buf(s->arena);
    struct kubectl_failure why;
    struct error err;
    bool makes = c->secret.name && !removes && !c->secret.is_there;

    pin_version(c);
    if (!edit_patch(c->edit, &patch, &err))
        return complain(c, &err);
    if ((makes && !tls_secret_create(&c->secret, true, &why)) ||
        !send_patch(c, buf_cstr(&patch), true, &why))
        return session_fail(s, "the API server would refuse it", &why);
    show(c, makes                                            ? '+'
            : removes && c->secret.name && c->secret.is_ours ? '-'
                                                             : '\0');
    if (!agrees(s))
        return refuse();
    return carry_out(c, buf_cstr(&patch), removes);
}

static bool check_wish(const struct arguments *args, struct error *err)
{
    if (args->push && !args->collector)
        return error_set(err, "--push needs --collector URL");
    if (args->image && !args->native)
        return error_set(err, "--image is for --native");
    if (args->mtls && args->scheme)
        return error_set(err, "--mtls means https; leave --scheme out");
    return true;
}

/* NAME of --cert-secret, which must be in the workload's namespace. */
static const char *named_secret(struct change *c, struct error *err)
{
    const char *given = c->session->args->cert_secret;
    const char *slash = strchr(given, '/');

    if (!slash)
        return given;
    if (strlen(c->namespace_name) == (size_t)(slash - given) &&
        strncmp(given, c->namespace_name, (size_t)(slash - given)) == 0)
        return slash + 1;
    error_set(err,
              "a pod can only use Secrets of its own namespace, %s; %s is not",
              c->namespace_name, given);
    return NULL;
}

/* The Secret for --mtls: the user's, or one of ours.  False: *code. */
static bool find_secret(struct change *c, struct workload_wish *wish, int *code)
{
    struct session *s = c->session;
    struct kubectl_failure why;
    struct error err;

    if (!wish->mtls)
        return true;
    wish->secret = s->args->cert_secret
                       ? named_secret(c, &err)
                       : arena_printf(s->arena, "%s-pprof-tls", c->own_name);
    if (!wish->secret) {
        *code = complain(c, &err);
        return false;
    }
    c->secret = (struct tls_secret){.session = s,
                                    .name = wish->secret,
                                    .namespace_name = c->namespace_name,
                                    .owner = c->own_name};
    if (!tls_secret_prepare(&c->secret, &why)) {
        *code = session_fail(s, wish->secret, &why);
        return false;
    }
    if (s->args->cert_secret && !c->secret.is_there) {
        session_say("secret %s not found", s->args->cert_secret);
        *code = EXIT_FAILED;
        return false;
    }
    return true;
}

int enable_run(struct session *s)
{
    const struct arguments *args = s->args;
    struct workload_wish wish = {.container = args->container,
                                 .port = args->port,
                                 .scheme = args->scheme,
                                 .path = args->path,
                                 .profiles = args->profiles,
                                 .service = args->service,
                                 .mtls = args->mtls,
                                 .native = args->native,
                                 .image =
                                     args->image ? args->image : DEFAULT_IMAGE,
                                 .push = args->push,
                                 .collector = args->collector};
    struct change c;
    struct error err;
    int code = EXIT_FAILED;

    if (!check_wish(args, &err)) {
        session_say("%s", err.text);
        return EXIT_USAGE;
    }
    if (!begin(s, &c, &code))
        return code;
    if (find_secret(&c, &wish, &code)) {
        if (!workload_enable(c.edit, s->arena, &wish, &err)) {
            code = complain(&c, &err);
        } else if (edit_steps(c.edit) == 0) {
            session_say("%s has all of that already; nothing was changed",
                        c.name);
            code = EXIT_OK;
        } else {
            code = apply(&c, false);
        }
    }
    end(&c);
    return code;
}

static void say_kept(const struct buf *kept)
{
    struct str rest = buf_str(kept), line;

    while (str_next_line(&rest, &line))
        session_say("left as it is, since somebody has changed it: %" STR_FMT,
                    STR_ARG(line));
}

int disable_run(struct session *s)
{
    struct buf kept = arena_buf(s->arena);
    struct kubectl_failure why;
    struct change c;
    struct error err;
    const char *secret;
    int code;

    if (!begin(s, &c, &code))
        return code;
    secret = workload_secret(c.edit, s->arena);
    if (!workload_disable(c.edit, s->arena, &kept, &err)) {
        code = complain(&c, &err);
    } else {
        if (secret)
            c.secret = (struct tls_secret){.session = s,
                                           .name = secret,
                                           .namespace_name = c.namespace_name};
        say_kept(&kept);
        if (secret && !tls_secret_look(&c.secret, &why))
            code = session_fail(s, secret, &why);
        else
            code = apply(&c, true);
    }
    end(&c);
    return code;
}
