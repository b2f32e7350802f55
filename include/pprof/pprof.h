#ifndef PPROF_PPROF_H
#define PPROF_PPROF_H

/*
 * libpprof: profiles of a running native program, in the format that pprof,
 * `go tool pprof` and profile collectors read.
 *
 *     #include <pprof/pprof.h>
 *
 *     int main(void)
 *     {
 *         pprof_serve("127.0.0.1:6060");
 *         …
 *     }
 *
 * serves http://127.0.0.1:6060/debug/pprof/.  The library starts no thread,
 * installs no signal handler and allocates no memory until you call one of
 * these functions (or, with libpprof-preload.so, set an environment variable).
 *
 * Functions that can fail return 0 on success and a negative errno value on
 * failure.  pprof_last_error() then describes the calling thread's last
 * failure.  No function ends the program.  All functions may be called from
 * any thread, but not from signal handlers unless stated otherwise.
 */

#include <stddef.h>

#if defined(__GNUC__)
#define PPROF_API __attribute__((visibility("default")))
#else
#define PPROF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PPROF_VERSION_MAJOR 0
#define PPROF_VERSION_MINOR 1

/* The version of the library at run time: "0.1.0". */
PPROF_API const char *pprof_version(void);

/* A sentence about the last failure in this thread; "" if there was none. */
PPROF_API const char *pprof_last_error(void);

/* ---- CPU profiles ------------------------------------------------------ */

struct pprof_cpu_options {
    size_t size;       /* sizeof(struct pprof_cpu_options) */
    int rate_hz;       /* samples per CPU second; 0: PPROF_CPU_RATE or 100 */
    int thread_labels; /* not 0: label every sample with its thread */
};

/*
 * Starts a CPU profile of the whole process.  The profile is written to fd when
 * it is stopped; keep fd open until then.  -EBUSY: one is already running.
 */
PPROF_API int pprof_start_cpu_profile(int fd);
PPROF_API int
pprof_start_cpu_profile_opts(int fd, const struct pprof_cpu_options *options);

/* Stops the profile and writes it.  -EINVAL: pprof_start_cpu_profile() did not
 * start one. */
PPROF_API int pprof_stop_cpu_profile(void);

/* ---- memory ------------------------------------------------------------ */

/*
 * The profile "heap" shows memory that is allocated and not freed, "allocs"
 * all memory allocated since the start.  Both need the hooks: either
 * libpprof-preload.so with an endpoint or PPROF_MEM_RATE, or a program linked
 * with libpprof-hooks, which enables them at start.
 *
 * Sets the sampling rate: on average, one sample per `bytes` bytes allocated.
 * The default is PPROF_MEM_RATE, or 524288.  1 records all allocations, 0 or
 * less none.  The calling thread uses the new rate at once, other threads
 * after some allocations, so set it early.
 *
 * -ENOTSUP: the hooks are not loaded.  -ENOMEM: out of memory.
 */
PPROF_API int pprof_set_mem_profile_rate(long long bytes);

/* ---- waiting ----------------------------------------------------------- */

/*
 * Waiting for mutexes, read-write locks, condition variables, semaphores,
 * barriers and joins.  The profile "block" has the stacks that waited, "mutex"
 * the stacks that released a lock while others waited for it.  Both need the
 * hooks: libpprof-preload.so, or a program linked with libpprof-hooks.
 * Serving an endpoint enables both at rates that cost next to nothing
 * (1,000,000 and 10), unless a rate was set before.
 *
 * pprof_set_block_profile_rate: records every wait of `ns` nanoseconds or
 * more.  A shorter wait is recorded with a probability of its length divided
 * by `ns` and scaled, so that sums are correct on average.  1 records all
 * waits, 0 or less none.
 *
 * pprof_set_mutex_profile_fraction: records one release in `n`, counted
 * n-fold.  1 records all releases, 0 none; a negative n changes nothing.
 * Returns the previous n, or a negative errno value.
 *
 * -ENOTSUP: the hooks are not loaded.  -ENOMEM: out of memory.
 */
PPROF_API int pprof_set_block_profile_rate(long long ns);
PPROF_API int pprof_set_mutex_profile_fraction(int n);

/* ---- wall clock -------------------------------------------------------- */

/*
 * Samples all threads `hz` times a second, whether they run or wait.  Samples
 * have a label `state`: running, runnable (waiting for a CPU), sleeping, disk,
 * lock (waiting for another thread) or stopped.  No system call of the program
 * returns early because of it.
 *
 * The profile is written to fd when it is stopped; keep fd open until then.
 * -EBUSY: one is already running.  -EINVAL: there is none to stop.
 */
struct pprof_wall_options {
    size_t size;       /* sizeof(struct pprof_wall_options) */
    int hz;            /* samples per second, at most 1000; 0: 50 */
    int thread_labels; /* not 0: label every sample with its thread */
};

PPROF_API int
pprof_start_wall_profile(int fd, const struct pprof_wall_options *options);
PPROF_API int pprof_stop_wall_profile(void);

/* ---- labels ------------------------------------------------------------ */

/*
 * Labels the samples of the calling thread in CPU, wall, thread and heap
 * profiles from now on.  Labels nest: of two labels with the same key, the
 * inner one is used.  With the hooks, new threads start with the labels of
 * their creator.  Key and value are copied, and cut off after 64 and 256
 * bytes.
 *
 * pprof_label_pop() takes the mark that pprof_label_push() returned and
 * removes all labels pushed since then, including those of code that was left
 * by longjmp or an exception.  Both functions are async-signal-safe after the
 * first push of the process.
 *
 *     pprof_label_mark mark = pprof_label_push("request", id);
 *     …
 *     pprof_label_pop(mark);
 *
 * To label everything until the end of the block, write
 * PPROF_LABEL("request", id); or in C++ pprof::label label("request", id);
 */
typedef unsigned int pprof_label_mark;

PPROF_API pprof_label_mark pprof_label_push(const char *key, const char *value);
PPROF_API void pprof_label_pop(pprof_label_mark mark);
PPROF_API void pprof_label_leave(const pprof_label_mark *mark);

/* ---- the program's own profiles ---------------------------------------- */

/*
 * Profiles of things that exist now, with the stacks that created them: open
 * connections, handles, buffers.
 *
 *     static struct pprof_profile *connections;
 *     connections = pprof_profile_new("connections");
 *     …
 *     pprof_profile_add(connections, conn, 1);
 *     …
 *     pprof_profile_remove(connections, conn);
 *
 * The endpoint lists the profile with the number of its entries.  The key of
 * an entry is a pointer or a number; `value` is its weight in the profile: 1,
 * or the size of a buffer.
 *
 * pprof_profile_new: returns NULL and sets errno on failure: EINVAL (a name
 * has 1 to 64 visible ASCII characters), EEXIST (the name is in use), ENOSPC
 * (there are 32 profiles), ENOMEM.  A profile lives as long as the process.
 * pprof_profile_add: -EEXIST: the key exists; -ENOSPC: there are a million
 * entries, or too many different stacks.
 * pprof_profile_remove: -ENOENT: there is no such key.
 */
struct pprof_profile;

PPROF_API struct pprof_profile *pprof_profile_new(const char *name);
PPROF_API int pprof_profile_add(struct pprof_profile *profile, const void *key,
                                long long value);
PPROF_API int pprof_profile_remove(struct pprof_profile *profile,
                                   const void *key);
PPROF_API long long pprof_profile_count(const struct pprof_profile *profile);

/* ---- other profiles ---------------------------------------------------- */

/*
 * Writes a profile to fd: "threads" (the same as "goroutine"),
 * "threadcreate", "heap", "allocs", "peak" (memory in use at the peak),
 * "leak", "block", "mutex", or one of the program's own profiles.  debug 0 is
 * gzipped profile.proto, 1 is text, 2 is text with more detail where there is
 * any.  -ENOENT: there is no profile of that name.
 */
PPROF_API int pprof_write_profile(const char *name, int fd, int debug);

/* ---- the endpoint ------------------------------------------------------ */

struct pprof_serve_options {
    size_t size;         /* sizeof(struct pprof_serve_options) */
    const char *address; /* NULL: the running endpoint's (pprof-run), else
                            PPROF_ADDR or 127.0.0.1:6060 */
    int insecure;        /* not 0: allow an address that other machines can
                            reach, without authentication */

    /* For the rest, 0 or NULL means the environment variable, or the default.
     * Each of client_ca, token_file and kubernetes admits clients. */
    const char *tls_cert, *tls_key; /* PEM files, reloaded when they change
                                       (PPROF_TLS_CERT, PPROF_TLS_KEY) */
    const char *client_ca;    /* admit clients with a certificate signed by a
                                 CA in this file (PPROF_CLIENT_CA) */
    const char *client_allow; /* of those, only these names: "alice,
                                 DNS:a.example, spiffe://…" */
    const char *token_file;   /* admit clients with a token from this file, as
                                 bearer token or in the URL
                                 (PPROF_TOKEN_FILE) */
    int kubernetes;           /* admit clients whom the cluster authorizes to
                                 read the URL */
    const char *hosts;        /* names allowed in the Host header, besides
                                 addresses and localhost (PPROF_HOSTS) */
    unsigned unix_mode;       /* mode of a unix socket; 0600 */
    int max_seconds;          /* longest profile; 300 */
    size_t max_reply_bytes;   /* largest reply; 256 MB */
    int max_connections;      /* simultaneous connections; 64 */
    int max_requests;         /* per client and minute; 600; < 0: no limit */
    int max_cpu_percent;      /* of one CPU; 2; < 0: no limit */
    /* Receives a line for each profile taken, from any thread.  NULL: the
     * line goes to stderr if authentication is enabled (PPROF_AUDIT). */
    void (*audit)(void *arg, const char *line);
    void *audit_arg;
};

/*
 * Serves /debug/pprof/ at "host:port" or "unix:/path".  Port 0 takes a free
 * port.  "%p" in a path is the process id, and the socket is removed at exit.
 * Prints the endpoint's URL to stderr.  -EADDRINUSE: the address is in use;
 * -EACCES: other machines can reach the address, and authentication is not
 * enabled; -EALREADY: the endpoint is already running.
 */
PPROF_API int pprof_serve(const char *address);
PPROF_API int pprof_serve_opts(const struct pprof_serve_options *options);

/* The address of the endpoint, "127.0.0.1:6060"; "" if there is none. */
PPROF_API const char *pprof_serving(void);
PPROF_API void pprof_stop_serving(void);

/*
 * Answers a request of a server that the program already has.  Call it for
 * every request whose path starts with /debug/pprof.  It takes as long as the
 * profile, so call it on a thread that may block.
 */
struct pprof_request {
    size_t size;        /* sizeof(struct pprof_request) */
    const char *method; /* "GET" */
    const char *path;   /* "/debug/pprof/heap", as received */
    const char *query;  /* "debug=1", as received; NULL: none */
    const void *body;   /* of a POST request */
    size_t body_bytes;
};

struct pprof_response {
    size_t size; /* sizeof(struct pprof_response) */
    void *arg;   /* passed to the functions */
    /* Called in this order: status, each header, the complete body. */
    void (*status)(void *arg, int status);
    void (*header)(void *arg, const char *name, const char *value);
    void (*body)(void *arg, const void *data, size_t bytes);
    /* Returns true if the client has disconnected, which ends a running
     * profile.  NULL: it never does. */
    int (*is_gone)(void *arg);
};

PPROF_API int pprof_handle(const struct pprof_request *request,
                           const struct pprof_response *response);

/* ---- push -------------------------------------------------------------- */

/*
 * Pushes profiles to a collector: pprofd, or profefe.  By default, a CPU
 * profile of 10 seconds every minute.  The service and labels under which they
 * are stored come from the options and the environment; see docs/push.md.
 */
struct pprof_push_options {
    size_t size; /* sizeof(struct pprof_push_options) */

    /* 0 or NULL means the environment variable, or the default. */
    const char *collector; /* "http://…" or "https://…" (PPROF_COLLECTOR) */
    const char *service;   /* the program's name (PPROF_SERVICE) */
    const char *labels;    /* "region=eu,version=1.3" (PPROF_LABELS, which
                              adds to these) */
    const char *profiles;  /* of cpu, wall, heap, block, mutex, threads: "cpu"
                              (PPROF_PUSH) */
    int interval_seconds;  /* between pushes; 60 (PPROF_PUSH_INTERVAL) */
    int cpu_seconds;       /* length of CPU and wall profiles; 10.  If it
                              equals the interval, there is no pause
                              (PPROF_PUSH_SECONDS) */
    int exit_seconds;      /* how long the program's end waits for the last
                              push; 2; < 0: there is no last push
                              (PPROF_PUSH_EXIT) */
    size_t max_bytes;      /* for profiles that wait to be sent; 8 MB
                              (PPROF_PUSH_MEMORY, in MB) */
    const char *ca;        /* PEM file of trusted CAs; those of the system
                              (PPROF_COLLECTOR_CA) */
    const char *cert, *key; /* PEM files of a client certificate
                               (PPROF_COLLECTOR_CERT, PPROF_COLLECTOR_KEY) */
    const char *token_file; /* a bearer token, read again for each push
                               (PPROF_COLLECTOR_TOKEN_FILE) */
};

/*
 * Starts pushing.  With NULL, all options come from the environment, and it is
 * no error if the process pushes already (pprof-run).  A forked child does not
 * push; it may call this itself.  When the program ends by exit() or a return
 * from main, the library pushes what it has measured since the last push.
 *
 * -EALREADY: profiles are pushed already; -EBUSY: an earlier push has not
 * ended yet; -EINVAL: an option is not understood, or there is no collector.
 */
PPROF_API int pprof_push_start(const struct pprof_push_options *options);

/* Pushes what has been measured and stops.  Waits for the last push as long
 * as the program's end would. */
PPROF_API void pprof_push_stop(void);

#ifdef __cplusplus
}

namespace pprof
{
/* Labels samples as long as the object lives. */
class label
{
  public:
    label(const char *key, const char *value)
        : mark_(pprof_label_push(key, value))
    {
    }
    ~label()
    {
        pprof_label_pop(mark_);
    }
    label(const label &) = delete;
    label &operator=(const label &) = delete;

  private:
    pprof_label_mark mark_;
};
} // namespace pprof

#define PPROF_LABEL(key, value)                                                \
    const ::pprof::label PPROF_PASTE(pprof_label_at_, __LINE__)((key), (value))
#elif defined(__GNUC__)
#define PPROF_LABEL(key, value)                                                \
    const pprof_label_mark PPROF_PASTE(pprof_label_at_, __LINE__)              \
        __attribute__((cleanup(pprof_label_leave), unused)) =                  \
            pprof_label_push((key), (value))
#endif

#define PPROF_PASTE(a, b)  PPROF_PASTE_(a, b)
#define PPROF_PASTE_(a, b) a##b

#endif
