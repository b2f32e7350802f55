#include "symbol/symbolize.h"

#include <ctype.h>

#include "base/path.h"
#include "symbol/demangle.h"
#include "symbol/local.h"
#include "symbol/remote.h"

struct mode {
    bool none, local, remote, names_only, force;
    enum demangle_mode demangle;
};

static bool parse_demangle(struct str word, struct mode *mode)
{
    if (str_has_prefix(word, STR("demangle=")))
        word = str_skip(word, strlen("demangle="));
    if (str_eq(word, STR("default")))
        return true;
    if (str_eq(word, STR("full")))
        mode->demangle = DEMANGLE_FULL;
    else if (str_eq(word, STR("templates")))
        mode->demangle = DEMANGLE_TEMPLATES;
    else if (str_eq(word, STR("none")))
        mode->demangle = DEMANGLE_NONE;
    else
        return false;
    mode->force = true;
    return true;
}

static bool parse_word(struct str word, struct mode *mode)
{
    if (word.n == 0)
        return true;
    if (str_eq(word, STR("none")) || str_eq(word, STR("no"))) {
        mode->none = true;
    } else if (str_eq(word, STR("local")) || str_eq(word, STR("fastlocal"))) {
        mode->local = true;
        mode->remote = false;
        mode->names_only |= word.s[0] == 'f';
    } else if (str_eq(word, STR("remote"))) {
        mode->local = false;
        mode->remote = true;
    } else if (str_eq(word, STR("force"))) {
        mode->force = true;
    } else {
        return parse_demangle(word, mode);
    }
    return true;
}

static struct mode parse_mode(struct str text, struct buf *messages)
{
    struct mode mode = {.local = true, .remote = true};
    struct buf lower = BUF_INIT(text.n);
    struct str rest, word;

    for (size_t i = 0; i < text.n; i++)
        buf_add_char(&lower, (char)tolower((unsigned char)text.s[i]));
    rest = buf_str(&lower);
    while (!mode.none && str_split(&rest, ':', &word))
        if (!parse_word(word, &mode))
            buf_addf(messages,
                     "ignoring unrecognized symbolization option: %" STR_FMT
                     "\nexpecting -symbolize=[local|fastlocal|remote|none]"
                     "[:force][:demangle=[none|full|templates|default]\n",
                     STR_ARG(text));
    buf_release(&lower);
    return mode;
}

void symbolize_profile(struct profile *p,
                       const struct symbolize_request *request,
                       struct buf *messages)
{
    struct mode mode = parse_mode(request->mode, messages);

    if (mode.none)
        return;
    if (mode.local)
        symbolize_local(p, mode.names_only, mode.force, messages);
    if (mode.remote)
        symbolize_remote(p, request, mode.force, messages);
    demangle_profile(p, mode.demangle, mode.force);
}
