#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pprof/pprof.h"
#include "runtime/endpoint/serve.h"
#include "runtime/endpoint/serve_options.h"

static const char *const variables[] = {
    "PPROF_ADDR",       "PPROF_INSECURE",     "PPROF_TLS_CERT",
    "PPROF_TLS_KEY",    "PPROF_CLIENT_CA",    "PPROF_CLIENT_ALLOW",
    "PPROF_TOKEN_FILE", "PPROF_KUBERNETES",   "PPROF_HOSTS",
    "PPROF_AUDIT",      "PPROF_MAX_SECONDS",  "PPROF_MAX_REPLY_MB",
    "PPROF_MAX_CPU",    "PPROF_MAX_REQUESTS", "PPROF_MAX_CONNECTIONS",
    "PPROF_UNIX_MODE",
};

static void forget_environment(void)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
}

#define ASKED(...)                                                             \
    &(struct pprof_serve_options)                                              \
    {                                                                          \
        .size = sizeof(struct pprof_serve_options), __VA_ARGS__                \
    }

static bool reads(const struct pprof_serve_options *asked,
                  struct serve_options *o)
{
    struct error err = {""};
    bool ok = serve_options_read(asked, o, &err);

    if (!ok)
        printf("# %s\n", err.text);
    return ok;
}

static bool refuses(const struct pprof_serve_options *asked, const char *words)
{
    struct serve_options o;
    struct error err = {""};

    return !serve_options_read(asked, &o, &err) &&
           str_contains(str_from(err.text), str_from(words));
}

TEST(without_a_word_it_is_loopback_and_limits)
{
    struct serve_options o;

    forget_environment();
    EXPECT(reads(NULL, &o));
    EXPECT_STR(str_from(o.address), "127.0.0.1:6060");
    EXPECT(!o.insecure && !o.kubernetes && !serve_options_guard(&o));
    EXPECT(o.unix_mode == 0600 && o.max_seconds == 300);
    EXPECT(o.max_connections == 64 && o.max_requests == 600);
    EXPECT(o.max_reply_bytes == (uint64_t)256 << 20 && o.max_cpu_percent == 2);
}

TEST(the_program_s_word_counts_more_than_the_environment)
{
    struct serve_options o;

    forget_environment();
    setenv("PPROF_ADDR", "127.0.0.1:1", 1);
    setenv("PPROF_TOKEN_FILE", "e", 1);
    setenv("PPROF_HOSTS", "h", 1);
    setenv("PPROF_MAX_SECONDS", "7", 1);
    setenv("PPROF_MAX_REQUESTS", "8", 1);
    setenv("PPROF_MAX_REPLY_MB", "3", 1);
    setenv("PPROF_UNIX_MODE", "660", 1);
    EXPECT(reads(ASKED(.address = "127.0.0.1:2", .token_file = "p",
                       .max_seconds = 9, .max_requests = -1),
                 &o));
    EXPECT_STR(str_from(o.address), "127.0.0.1:2");
    EXPECT_STR(str_from(o.token_file), "p");
    EXPECT_STR(str_from(o.hosts), "h");
    EXPECT(o.max_seconds == 9 && o.max_requests == 0);
    EXPECT(o.max_reply_bytes == (uint64_t)3 << 20 && o.unix_mode == 0660);
    EXPECT(serve_options_guard(&o));
}

TEST(a_program_built_with_an_older_header_has_fewer_fields)
{
    struct pprof_serve_options old = {
        .address = "127.0.0.1:2", .insecure = 1, .tls_cert = "not there yet"};
    struct serve_options o;

    forget_environment();
    old.size = offsetof(struct pprof_serve_options, tls_cert);
    EXPECT(reads(&old, &o));
    EXPECT(o.insecure && o.tls_cert == NULL);
}

TEST(a_wider_address_needs_authentication_and_tls)
{
    struct serve_options o;

    forget_environment();
    EXPECT(refuses(ASKED(.address = ":0"), "PPROF_CLIENT_CA"));
    EXPECT(refuses(ASKED(.address = "0.0.0.0:1"), "can be reached"));
    EXPECT(refuses(ASKED(.address = ":0", .token_file = "t"), "unencrypted"));
    EXPECT(refuses(ASKED(.address = ":0", .kubernetes = 1), "unencrypted"));
    EXPECT(refuses(ASKED(.address = ":0", .tls_cert = "c", .tls_key = "k"),
                   "can be reached"));
    EXPECT(reads(ASKED(.address = ":0", .insecure = 1), &o));
    EXPECT(reads(ASKED(.address = ":0", .tls_cert = "c", .tls_key = "k",
                       .client_ca = "a"),
                 &o));
    EXPECT(reads(ASKED(.address = "unix:/nowhere"), &o));
    setenv("PPROF_INSECURE", "yes", 1); /* not in so many words */
    EXPECT(refuses(ASKED(.address = ":0"), "PPROF_INSECURE=1"));
}

TEST(numbers_are_numbers)
{
    forget_environment();
    setenv("PPROF_MAX_CPU", "101", 1);
    EXPECT(refuses(NULL, "PPROF_MAX_CPU=101: must be a number from 0 to 100"));
    setenv("PPROF_MAX_CPU", "5%", 1);
    EXPECT(refuses(NULL, "PPROF_MAX_CPU=5%"));
    forget_environment();
    setenv("PPROF_UNIX_MODE", "888", 1);
    EXPECT(refuses(NULL, "PPROF_UNIX_MODE=888"));
    forget_environment();
}

TEST(a_copy_outlives_its_original)
{
    char address[] = "127.0.0.1:2";
    struct serve_options o, copy;

    forget_environment();
    EXPECT(reads(ASKED(.address = address), &o));
    EXPECT(serve_options_copy(&o, &copy));
    address[0] = 'x';
    EXPECT_STR(str_from(copy.address), "127.0.0.1:2");
    EXPECT(copy.tls_cert == NULL && copy.max_seconds == 300);
    serve_options_release(&copy);
    EXPECT(copy.address == NULL);
}

/* Each process of a tree needs an address of its own. */
TEST(a_child_serves_at_an_address_of_its_own)
{
    char out[128], want[128];

    serve_own_address("unix:/run/a.sock", out, sizeof(out));
    snprintf(want, sizeof(want), "unix:/run/a.sock.%d", (int)getpid());
    EXPECT(strcmp(out, want) == 0);
    serve_own_address("unix:/run/%p.sock", out, sizeof(out));
    EXPECT(strcmp(out, "unix:/run/%p.sock") == 0);
    serve_own_address("127.0.0.1:6060", out, sizeof(out));
    EXPECT(strcmp(out, "127.0.0.1:0") == 0);
    serve_own_address("[::1]:6060", out, sizeof(out));
    EXPECT(strcmp(out, "[::1]:0") == 0);
}

TEST_MAIN
