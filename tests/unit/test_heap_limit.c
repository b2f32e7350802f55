#include "test.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/heap/heap_limit.h"

static char root[64];

static void put(const char *directory, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s%s", root, directory);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s%s/%s", root, directory, name);
    f = fopen(path, "w");
    EXPECT(f != NULL);
    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

static bool read_it(struct memory_use *use)
{
    char file[128];

    snprintf(file, sizeof(file), "%s/cgroup", root);
    return heap_limit_read(root, file, use);
}

static void new_root(void)
{
    snprintf(root, sizeof(root), "/tmp/test-heap-limit-XXXXXX");
    EXPECT(mkdtemp(root) != NULL);
}

static void remove_root(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    EXPECT(system(command) == 0);
}

TEST(without_a_limit_there_is_none)
{
    struct memory_use use;

    new_root();
    EXPECT(!read_it(&use));
    put("", "cgroup", "0::/\n");
    put("", "memory.max", "max\n");
    put("", "memory.current", "1000\n");
    EXPECT(!read_it(&use));
    remove_root();
}

TEST(cache_that_can_be_given_back_is_not_used)
{
    struct memory_use use = {0};

    new_root();
    put("", "cgroup", "0::/a\n");
    put("/a", "memory.max", "1000000\n");
    put("/a", "memory.current", "900000\n");
    put("/a", "memory.stat",
        "anon 500000\nfile 400000\ninactive_file 300000\n");
    EXPECT(read_it(&use) && use.used == 600000 && use.limit == 1000000);
    remove_root();
}

TEST(a_group_above_may_be_tighter)
{
    struct memory_use use = {0};

    new_root();
    put("", "cgroup", "0::/a/b\n");
    put("/a", "memory.max", "1000\n");
    put("/a", "memory.current", "950\n");
    put("/a/b", "memory.max", "1000\n");
    put("/a/b", "memory.current", "100\n");
    EXPECT(read_it(&use) && use.used == 950);
    remove_root();
}

TEST(version_1_is_read_too)
{
    struct memory_use use = {0};

    new_root();
    put("", "cgroup", "12:cpuset:/\n5:memory:/x\n0::/\n");
    put("/memory", "memory.limit_in_bytes", "9223372036854771712\n");
    put("/memory", "memory.usage_in_bytes", "5000\n");
    EXPECT(!read_it(&use));
    put("/memory/x", "memory.limit_in_bytes", "8000\n");
    put("/memory/x", "memory.usage_in_bytes", "5000\n");
    put("/memory/x", "memory.stat", "cache 10\ntotal_inactive_file 1000\n");
    EXPECT(read_it(&use) && use.used == 4000 && use.limit == 8000);
    remove_root();
}

/* Sanitizers need more address space than there is. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#elif defined(__has_feature)
enum {
    IS_SANITIZED =
        __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
};
#else
enum { IS_SANITIZED = 0 };
#endif

TEST(the_address_space_has_a_limit)
{
    struct memory_use use = {0};
    struct rlimit old, now;

    if (IS_SANITIZED) {
        TEST_SKIP("a sanitizer needs the address space");
        return;
    }

    new_root();
    EXPECT(getrlimit(RLIMIT_AS, &old) == 0);
    now = (struct rlimit){(rlim_t)1 << 40, old.rlim_max};
    if (setrlimit(RLIMIT_AS, &now) != 0) {
        TEST_SKIP("the limit cannot be set");
        return;
    }
    EXPECT(read_it(&use) && use.limit == (uint64_t)1 << 40);
    EXPECT(use.used > 100000);
    setrlimit(RLIMIT_AS, &old);
    remove_root();
}

TEST_MAIN
