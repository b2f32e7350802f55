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
 * gives http://127.0.0.1:6060/debug/pprof/.  Nothing happens before one of
 * these functions is called (or, with libpprof-preload.so, an environment
 * variable asks for it): no thread, no signal handler, no memory.
 *
 * Functions that can fail return 0, or a negative errno value;
 * pprof_last_error() then has a sentence for the calling thread's last
 * failure.  No function ends the program.  All of them may be called from
 * any thread, but not from signal handlers.
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

/* The version of the library that runs, "0.1.0". */
PPROF_API const char *pprof_version(void);

/* What went wrong last in this thread; "" when nothing did. */
PPROF_API const char *pprof_last_error(void);

/* ---- CPU profiles ------------------------------------------------------ */

struct pprof_cpu_options {
    size_t size;       /* sizeof(struct pprof_cpu_options) */
    int rate_hz;       /* samples a CPU second; 0: PPROF_CPU_RATE or 100 */
    int thread_labels; /* not 0: every sample says in which thread */
};

/*
 * Starts the CPU profile of the whole process.  It is written to fd, which
 * must stay open, when it is stopped.  -EBUSY: one is running already.
 */
PPROF_API int pprof_start_cpu_profile(int fd);
PPROF_API int
pprof_start_cpu_profile_opts(int fd, const struct pprof_cpu_options *options);

/* Ends it and writes it.  -EINVAL: none was started here. */
PPROF_API int pprof_stop_cpu_profile(void);

/* ---- memory ------------------------------------------------------------ */

/*
 * Profiles "heap" (what is allocated and not freed) and "allocs" (all that
 * was ever allocated).  Both need the hooks: libpprof-preload.so with an
 * endpoint or PPROF_MEM_RATE, or the program linked with libpprof-hooks,
 * where they are on from the start.
 *
 * Samples one allocation in so many bytes, in the mean: PPROF_MEM_RATE, else
 * 524288.  1 records all, 0 (or less) none.  The calling thread follows at
 * once, others after some allocations; best set early.
 *
 * -ENOTSUP: the hooks are not there.  -ENOMEM: out of memory.
 */
PPROF_API int pprof_set_mem_profile_rate(long long bytes);

/* ---- waiting ----------------------------------------------------------- */

/*
 * What threads wait for: mutexes, read-write locks, condition variables,
 * semaphores, barriers, joins.  Profile "block" has the stacks that waited,
 * "mutex" the stacks that released a lock for which others were waiting.
 * Both need the hooks: libpprof-preload.so, or the program linked with
 * libpprof-hooks.  An endpoint that is served switches both on at rates that
 * cost next to nothing (1,000,000 and 10), unless a rate was set before.
 *
 * Block: every wait of `ns` nanoseconds or more is recorded, and of shorter
 * ones as many as their length is a part of it, so that the sum is right; 1
 * records all, 0 (or less) none.
 *
 * Mutex: one release in n is recorded and counts n-fold; 1 records all, 0
 * none, less than 0 only asks.  Returns the n that was before, or a negative
 * errno value.
 *
 * -ENOTSUP: the hooks are not there.  -ENOMEM: out of memory.
 */
PPROF_API int pprof_set_block_profile_rate(long long ns);
PPROF_API int pprof_set_mutex_profile_fraction(int n);

/* ---- wall clock -------------------------------------------------------- */

/*
 * Where threads are, running or not, looked at `hz` times a second, with a
 * label `state`: running, runnable (waiting for a CPU), sleeping, disk, lock
 * (waiting for another thread).  A thread that moved since the last look gets
 * a SIGURG, once; system calls that are not restarted by the kernel
 * (epoll_wait, poll, nanosleep) then return EINTR.
 *
 * Written to fd, which must stay open, when it is stopped.  -EBUSY: one is
 * running already.  -EINVAL: none was started here.
 */
struct pprof_wall_options {
    size_t size;       /* sizeof(struct pprof_wall_options) */
    int hz;            /* 0: 50; 1000 at most */
    int thread_labels; /* not 0: every sample says in which thread */
};

PPROF_API int
pprof_start_wall_profile(int fd, const struct pprof_wall_options *options);
PPROF_API int pprof_stop_wall_profile(void);

/* ---- labels ------------------------------------------------------------ */

/*
 * What the calling thread does from now on is done for this: its samples in
 * CPU, wall and thread profiles carry the label.  Labels nest; of two with
 * the same key the inner one is seen.  Threads that are created meanwhile
 * begin with the same labels (with the hooks).  Key and value are copied;
 * more than 64 and 256 bytes of them are cut off.
 *
 * Pop with what push returned: it takes back all that was pushed since, also
 * by code that a longjmp or an exception has left.  Both are
 * async-signal-safe after the first push of the process.
 *
 *     pprof_label_mark mark = pprof_label_push("request", id);
 *     …
 *     pprof_label_pop(mark);
 *
 * or, until the end of the block: PPROF_LABEL("request", id); in C++ also
 * pprof::label label("request", id);
 */
typedef unsigned int pprof_label_mark;

PPROF_API pprof_label_mark pprof_label_push(const char *key, const char *value);
PPROF_API void pprof_label_pop(pprof_label_mark mark);
PPROF_API void pprof_label_leave(const pprof_label_mark *mark);

/* ---- the program's own profiles ---------------------------------------- */

/*
 * What is there now, with the stacks that brought it: open connections,
 * handles, buffers.
 *
 *     static struct pprof_profile *connections;
 *     connections = pprof_profile_new("connections");
 *     …
 *     pprof_profile_add(connections, conn, 1);
 *     …
 *     pprof_profile_remove(connections, conn);
 *
 * The endpoint lists it with the number of entries.  An entry is known by its
 * key, a pointer or a number, and counts for `value` in the profile: 1, or
 * the bytes of a buffer.
 *
 * new: NULL and errno on failure: EINVAL for an empty or unfit name (1 to 64
 * visible ASCII characters), EEXIST for one that is in use, ENOSPC after 32
 * profiles, ENOMEM.  A profile lives as long as the process.
 * add: -EEXIST: the key is there; -ENOSPC: a million are, or too many
 * different stacks.  remove: -ENOENT: it was not there.
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
 * "threadcreate", "heap", "allocs", "block", "mutex".  debug 0 is the gzip'd
 * format for tools, 1 text, 2 a dump in detail where there is one.  -ENOENT: no
 * profile of that name.
 */
PPROF_API int pprof_write_profile(const char *name, int fd, int debug);

/* ---- the endpoint ------------------------------------------------------ */

struct pprof_serve_options {
    size_t size;         /* sizeof(struct pprof_serve_options) */
    const char *address; /* NULL: where it is up already (pprof-run), else
                            PPROF_ADDR or 127.0.0.1:6060 */
    int insecure;        /* not 0: an address that other machines can reach
                            is fine, without authentication */

    /* The rest: 0 or NULL takes the environment's word, else the default. */
    const char *tls_cert, *tls_key; /* PEM files, read again when they change
                                       (PPROF_TLS_CERT, PPROF_TLS_KEY) */
    const char *client_ca;    /* only who has a certificate that one of this
                                 file signed may read (PPROF_CLIENT_CA) */
    const char *client_allow; /* … and one of these names: "alice,
                                 DNS:a.example, spiffe://…" */
    const char *token_file;   /* or who knows a secret of this file, as bearer
                                 token or in the URL (PPROF_TOKEN_FILE) */
    int kubernetes;           /* or whom the cluster lets read the URL */
    const char *hosts;        /* names for the Host header, besides addresses
                                 and localhost (PPROF_HOSTS) */
    unsigned unix_mode;       /* of a unix socket's file; 0600 */
    int max_seconds;          /* the longest profile; 300 */
    size_t max_reply_bytes;   /* 256 MB */
    int max_connections;      /* at a time; 64 */
    int max_requests;         /* of one client, a minute; 600; < 0: any */
    int max_cpu_percent;      /* of one CPU; 2; < 0: any */
    /* Gets a line for each profile taken, from any thread; NULL: stderr,
     * where somebody is asked who he is (PPROF_AUDIT). */
    void (*audit)(void *arg, const char *line);
    void *audit_arg;
};

/*
 * Serves /debug/pprof/ at "host:port" or "unix:/path"; port 0 takes a free
 * one.  A line on stderr says where.  -EADDRINUSE: somebody has it already;
 * -EACCES: it could be reached from elsewhere; -EALREADY: it is up.
 */
PPROF_API int pprof_serve(const char *address);
PPROF_API int pprof_serve_opts(const struct pprof_serve_options *options);

/* Where it is served, "127.0.0.1:6060"; "" when it is not. */
PPROF_API const char *pprof_serving(void);
PPROF_API void pprof_stop_serving(void);

/*
 * The same for a server that the program has already: give it every request
 * whose path starts with /debug/pprof.  Takes as long as the profile does, so
 * call it where waiting harms nobody.
 */
struct pprof_request {
    size_t size;        /* sizeof(struct pprof_request) */
    const char *method; /* "GET" */
    const char *path;   /* "/debug/pprof/heap", as it was sent */
    const char *query;  /* "debug=1", as it was sent; NULL: none */
    const void *body;   /* of a POST */
    size_t body_bytes;
};

struct pprof_response {
    size_t size; /* sizeof(struct pprof_response) */
    void *arg;   /* given to the functions */
    /* The status, then each header, then the body, whole. */
    void (*status)(void *arg, int status);
    void (*header)(void *arg, const char *name, const char *value);
    void (*body)(void *arg, const void *data, size_t bytes);
    /* Has the client gone?  Then a running profile ends.  NULL: never. */
    int (*is_gone)(void *arg);
};

PPROF_API int pprof_handle(const struct pprof_request *request,
                           const struct pprof_response *response);

#ifdef __cplusplus
}

namespace pprof
{
/* A label for as long as this lives. */
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
