/*
 * What the embedded store costs, one JSON line per figure:
 *
 *     bench-store inflate ROUNDS FILE…    the peers: gunzip,
 * profile_read_memory bench-store ingest ROUNDS FILE…     CPU per put, disk per
 * posted byte bench-store merge PROFILES SAMPLES  merge, listing, function,
 * series bench-store services N FILE…        memory and start-up with N
 * services
 *
 * FILEs are consecutive profiles of one program; names with ".heap." are
 * stored as heap profiles, the others as CPU profiles.  Times are CPU time
 * of the process unless "wall" is said.  Data go into $TMPDIR.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/gzip.h"
#include "profile/encode.h"
#include "profile/read.h"
#include "store/sqlite/sqlite.h"

#define START_NS  ((int64_t)1700006400 * 1000000000) /* a midnight */
#define SECOND_NS ((int64_t)1000000000)

static char dir[4096];

static int64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void fail(const char *what, const struct error *err)
{
    fprintf(stderr, "bench-store: %s: %s\n", what, err->text);
    exit(1);
}

static void say(const char *name, double value, const char *unit)
{
    printf("{\"bench\": \"store\", \"name\": \"%s\", \"value\": %.4g, "
           "\"unit\": \"%s\"}\n",
           name, value, unit);
    fflush(stdout);
}

static double rss_mb(const char *key)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    double mb = 0;

    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, key, strlen(key)) == 0)
            mb = strtod(line + strlen(key) + 1, NULL) / 1024;
    if (f)
        fclose(f);
    return mb;
}

static void empty_dir(void)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    char path[8192];

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
}

static struct store *open_store(const struct store_options *o)
{
    struct error err;
    struct store *s = sqlite_store_open(o, &err);

    if (!s)
        fail("open", &err);
    return s;
}

static struct store_options options(void)
{
    struct store_options o = store_default_options;

    o.dir = dir;
    o.no_background = true;
    return o;
}

/*
 * Puts, as many at once as the queue takes.
 */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t under_way;
};

static struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER};

static void done(void *arg, enum store_status status,
                 const struct store_receipt *receipt, const struct error *err)
{
    (void)arg;
    (void)receipt;
    if (status != STORE_OK)
        fail("put", err);
    pthread_mutex_lock(&gate.lock);
    gate.under_way--;
    pthread_cond_signal(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static void wait_below(size_t n)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.under_way >= n)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void put(struct store *s, const struct store_put *p)
{
    struct error err;

    wait_below(200);
    pthread_mutex_lock(&gate.lock);
    gate.under_way++;
    pthread_mutex_unlock(&gate.lock);
    if (store_put(s, p, done, NULL, &err) != STORE_OK)
        fail("put", &err);
}

struct file {
    struct buf bytes;
    const char *type;
};

static struct file *read_files(char **paths, int n)
{
    struct file *files = calloc((size_t)n + 1, sizeof(*files));
    struct error err;

    for (int i = 0; i < n; i++) {
        files[i].bytes = BUF_INIT(BUF_NO_LIMIT);
        files[i].type = strstr(paths[i], ".heap.") ? "heap" : "cpu";
        if (!file_read(paths[i], &files[i].bytes, &err))
            fail("read", &err);
    }
    return files;
}

static double disk_bytes(struct store *s)
{
    struct store_stats stats;

    store_get_stats(s, &stats);
    return (double)stats.disk_bytes;
}

static void work_off(struct store *s)
{
    struct error err;

    if (!sqlite_store_seal_all(s, &err))
        fail("seal", &err);
    while (sqlite_store_work(s))
        continue;
}

/* Bytes that the store accounts to profiles and dictionaries. */
static bool add_usage(void *arg, const struct store_usage *u)
{
    *(double *)arg += (double)u->stored_bytes;
    return true;
}

/* The peer: the analyser's reader, and gunzip alone. */
static void read_only(struct file *files, int rounds, int n)
{
    int64_t start = cpu_ns();
    struct error err;

    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++)
            profile_free(
                profile_read_memory(buf_str(&files[i].bytes), NULL, &err));
    say("profile_read_memory", (double)(cpu_ns() - start) / 1e6 / rounds / n,
        "ms CPU");
    start = cpu_ns();
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++) {
            struct buf out = BUF_INIT(BUF_NO_LIMIT);

            gzip_inflate(buf_str(&files[i].bytes), &out, &err);
            buf_release(&out);
        }
    say("gunzip", (double)(cpu_ns() - start) / 1e6 / rounds / n, "ms CPU");
}

static void ingest(int rounds, char **paths, int n)
{
    struct file *files = read_files(paths, n);
    struct store_options o = options();
    struct store *s = open_store(&o);
    int64_t start = cpu_ns(), wall = clock_monotonic_ns(), time = START_NS;
    double posted = 0, puts = (double)rounds * n, used = 0;
    struct error err;

    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++, time += SECOND_NS) {
            struct store_put p = {.service = STR("bench"),
                                  .type = str_from(files[i].type),
                                  .bytes = buf_str(&files[i].bytes),
                                  .created_at_ns = time,
                                  .created_at_wins = true,
                                  .allow_empty = true};

            posted += (double)p.bytes.n;
            put(s, &p);
        }
    wait_below(1);
    say("posted per put", posted / puts, "bytes");
    say("put", (double)(cpu_ns() - start) / 1e6 / puts, "ms CPU");
    say("puts per second, wall",
        puts / ((double)(clock_monotonic_ns() - wall) / 1e9), "1/s");
    start = cpu_ns();
    if (!sqlite_store_seal_all(s, &err))
        fail("seal", &err);
    say("seal", (double)(cpu_ns() - start) / 1e6 / puts, "ms CPU per put");
    start = cpu_ns();
    work_off(s);
    say("join", (double)(cpu_ns() - start) / 1e6 / puts, "ms CPU per put");
    store_get_usage(s, add_usage, &used, &err);
    say("posted / stored, profiles and dictionaries", posted / used, "x");
    store_close(s);
    s = open_store(&o);
    say("posted / stored, all files", posted / disk_bytes(s), "x");
    say("peak RSS", rss_mb("VmHWM"), "MB");
    store_close(s);
    read_only(files, rounds, n);
}

/*
 * A service with 20,000 stacks, of which every profile has some.
 */
enum { STACKS = 20000, DEPTH = 20 };

static uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

enum { FUNCTIONS = 4000 };

static struct profile *make_header(void)
{
    struct profile *p = profile_new();

    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("samples")), profile_intern(p, STR("count"))};
    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("cpu")), profile_intern(p, STR("nanoseconds"))};
    p->period_type = p->types.v[1];
    p->period = 10000000;
    return p;
}

/* The location of a function, added when it is used first. */
static uint32_t location_of(struct profile *p, uint32_t *known, uint32_t i)
{
    char name[64];
    uint32_t at = (uint32_t)p->locations.n;

    if (known[i])
        return known[i] - 1;
    snprintf(name, sizeof(name), "example.com/service/pkg%u.function%u", i % 97,
             i);
    *vec_push(p->arena, &p->functions) = (struct function){
        .id = at + 1, .name = profile_intern(p, str_from(name))};
    *vec_push(p->arena, &p->lines) = (struct line){at, i % 500, 0};
    *vec_push(p->arena, &p->locations) =
        (struct location){.id = at + 1,
                          .address = 0x400000 + i * 64,
                          .mapping = NO_INDEX,
                          .line_start = at,
                          .n_lines = 1};
    known[i] = at + 1;
    return at;
}

/* Sixteen stacks share their roots. */
static void add_stack(struct sample_builder *b, uint32_t *known, uint32_t stack)
{
    uint64_t state = stack * 0x9e3779b97f4a7c15u + 1;
    uint64_t shared = stack / 16 * 0x9e3779b97f4a7c15u + 1;

    for (int i = 0; i < DEPTH; i++) {
        uint32_t f = random_below(i < DEPTH / 4 ? &state : &shared, FUNCTIONS);

        sample_builder_frame(b, location_of(b->profile, known, f));
    }
}

static void fill(struct store *s, int profiles, int samples)
{
    static uint32_t known[FUNCTIONS];
    uint64_t state = 42;

    for (int i = 0; i < profiles; i++) {
        struct profile *p = make_header();
        struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
        struct sample_builder b;
        struct store_put request;

        memset(known, 0, sizeof(known));
        sample_builder_init(&b, p);
        for (int n = 0; n < samples; n++) {
            int64_t values[2] = {1 + random_below(&state, 5)};

            values[1] = values[0] * p->period;
            add_stack(&b, known, random_below(&state, STACKS));
            sample_builder_end(&b, values);
        }
        profile_encode(p, &bytes);
        request = (struct store_put){.service = STR("bench"),
                                     .type = STR("cpu"),
                                     .bytes = buf_str(&bytes),
                                     .created_at_ns = START_NS + i * SECOND_NS};
        put(s, &request);
        buf_release(&bytes);
        profile_free(p);
        while (i % 1000 == 999 && sqlite_store_work(s))
            continue;
    }
    wait_below(1);
}

static bool count_profile(void *arg, const struct store_profile *p)
{
    (void)p;
    ++*(size_t *)arg;
    return true;
}

static bool count_point(void *arg, const struct store_point *p)
{
    (void)p;
    ++*(size_t *)arg;
    return true;
}

static bool count_function(void *arg, const struct store_function_point *p)
{
    (void)p;
    ++*(size_t *)arg;
    return true;
}

static void ask(struct store *s, const char *when)
{
    struct store_matcher service = {
        .field = STORE_SERVICE, .op = STORE_EQUAL, .value = STR("bench")};
    struct store_query q = {&service, 1, INT64_MIN, INT64_MAX};
    struct store_series lines = {.query = q, .step_ns = 60 * SECOND_NS};
    struct store_function f = {.query = q,
                               .step_ns = 60 * SECOND_NS,
                               .name =
                                   STR("example.com/service/pkg7.function7")};
    struct store_progress progress;
    struct profile *p;
    struct error err;
    char name[64];
    size_t n = 0;
    int64_t start, best = INT64_MAX;

    for (int i = 0; i < 5; i++) {
        start = cpu_ns();
        if (store_merge(s, &q, STORE_AS_SENT, NULL, &p, &progress, &err))
            fail("merge", &err);
        best = cpu_ns() - start < best ? cpu_ns() - start : best;
        if (i < 4)
            profile_free(p);
    }
    snprintf(name, sizeof(name), "merge, %s, best of 5", when);
    say(name, (double)best / 1e6, "ms CPU");
    say("merged profiles", (double)progress.profiles, "");
    say("merged stacks", (double)p->n_samples, "");
    profile_free(p);
    start = cpu_ns();
    if (store_list(s, &q, NULL, NULL, count_profile, &n, NULL, &err))
        fail("list", &err);
    snprintf(name, sizeof(name), "list, %s", when);
    say(name, (double)(cpu_ns() - start) / 1e6, "ms CPU");
    start = cpu_ns();
    if (store_series(s, &lines, NULL, count_point, &n, NULL, &err))
        fail("series", &err);
    snprintf(name, sizeof(name), "series, %s", when);
    say(name, (double)(cpu_ns() - start) / 1e6, "ms CPU");
    start = cpu_ns();
    if (store_function(s, &f, NULL, count_function, &n, NULL, &err))
        fail("function", &err);
    snprintf(name, sizeof(name), "function, %s", when);
    say(name, (double)(cpu_ns() - start) / 1e6, "ms CPU");
}

static void merge(int profiles, int samples)
{
    struct store_options o = options();
    struct store *s = open_store(&o);

    fill(s, profiles, samples);
    ask(s, "as it came");
    work_off(s);
    store_close(s);
    s = open_store(&o);
    say("RSS before", rss_mb("VmRSS"), "MB");
    ask(s, "joined, cold");
    ask(s, "joined, warm");
    say("RSS after", rss_mb("VmRSS"), "MB");
    say("peak RSS", rss_mb("VmHWM"), "MB");
    say("disk", disk_bytes(s) / 1e6, "MB");
    store_close(s);
}

static void services(int n, char **paths, int n_paths)
{
    struct file *files = read_files(paths, n_paths);
    struct store_options o = options();
    struct store *s;
    struct store_stats stats;
    int64_t start, time = START_NS;
    char name[64];

    o.no_background = false;
    s = open_store(&o);
    for (int i = 0; i < n_paths; i++)
        for (int v = 0; v < n; v++, time += SECOND_NS / 100) {
            struct store_put p = {.bytes = buf_str(&files[i].bytes),
                                  .type = str_from(files[i].type),
                                  .created_at_ns = time,
                                  .created_at_wins = true,
                                  .allow_empty = true};

            snprintf(name, sizeof(name), "service-%d", v);
            p.service = str_from(name);
            put(s, &p);
        }
    wait_below(1);
    store_get_stats(s, &stats);
    say("open profiles", (double)stats.open_profiles, "");
    say("segments", (double)stats.segments, "");
    say("memory accounted", (double)stats.memory_bytes / 1e6, "MB");
    say("RSS", rss_mb("VmRSS"), "MB");
    say("peak RSS", rss_mb("VmHWM"), "MB");
    store_close(s);
    start = clock_monotonic_ns();
    s = open_store(&o);
    say("start-up, wall", (double)(clock_monotonic_ns() - start) / 1e6, "ms");
    store_close(s);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, sizeof(dir), "%s/bench-store-XXXXXX", tmp ? tmp : "/tmp");
    if (argc < 4 || !mkdtemp(dir)) {
        fprintf(stderr, "usage: bench-store inflate ROUNDS FILE...\n"
                        "       bench-store ingest ROUNDS FILE...\n"
                        "       bench-store merge PROFILES SAMPLES\n"
                        "       bench-store services N FILE...\n");
        return 2;
    }
    if (strcmp(argv[1], "ingest") == 0)
        ingest((int)strtol(argv[2], NULL, 10), argv + 3, argc - 3);
    else if (strcmp(argv[1], "inflate") == 0)
        read_only(read_files(argv + 3, argc - 3),
                  (int)strtol(argv[2], NULL, 10), argc - 3);
    else if (strcmp(argv[1], "merge") == 0)
        merge((int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10));
    else
        services((int)strtol(argv[2], NULL, 10), argv + 3, argc - 3);
    empty_dir();
    rmdir(dir);
    return 0;
}
