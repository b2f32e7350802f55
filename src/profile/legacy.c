#include "profile/legacy.h"

#include "profile/legacy_common.h"

/*
 * Frames that the profilers themselves put on the stacks, for
 * drop_frames/keep_frames.
 */
static const struct str allocator_frames = STR_INIT(
    "calloc|cfree|malloc|free|memalign|do_memalign|(__)?posix_memalign|"
    "pvalloc|valloc|realloc|tcmalloc::.*|tc_calloc|tc_cfree|tc_malloc|tc_free|"
    "tc_memalign|tc_posix_memalign|tc_pvalloc|tc_valloc|tc_realloc|tc_new|"
    "tc_delete|tc_newarray|tc_deletearray|tc_new_nothrow|tc_newarray_nothrow|"
    "malloc_zone_malloc|malloc_zone_calloc|malloc_zone_valloc|"
    "malloc_zone_realloc|malloc_zone_memalign|malloc_zone_free|"
    "runtime\\..*|BaseArena::.*|(::)?do_malloc_no_errno|"
    "(::)?do_malloc_pages|(::)?do_malloc|DoSampledAllocation|"
    "MallocedMemBlock::MallocedMemBlock|_M_allocate|__builtin_(vec_)?delete|"
    "__builtin_(vec_)?new|__gnu_cxx::new_allocator::allocate|__libc_malloc|"
    "__malloc_alloc_template::allocate|allocate|cpp_alloc|"
    "operator new(\\[\\])?|simple_alloc::allocate");

static const struct str allocator_keep =
    STR_INIT("runtime\\.panic|runtime\\.reflectcall|runtime\\.call[0-9]*");

static const struct str lock_frames = STR_INIT(
    "RecordLockProfileData|(base::)?RecordLockProfileData.*|"
    "(base::)?SubmitMutexProfileData.*|(base::)?SubmitSpinLockProfileData.*|"
    "(base::Mutex::)?AwaitCommon.*|(base::Mutex::)?Unlock.*|"
    "(base::Mutex::)?UnlockSlow.*|(base::Mutex::)?ReaderUnlock.*|"
    "(base::MutexLock::)?~MutexLock.*|(Mutex::)?AwaitCommon.*|"
    "(Mutex::)?Unlock.*|(Mutex::)?UnlockSlow.*|(Mutex::)?ReaderUnlock.*|"
    "(MutexLock::)?~MutexLock.*|(SpinLock::)?Unlock.*|"
    "(SpinLock::)?SlowUnlock.*|(SpinLockHolder::)?~SpinLockHolder.*");

static const struct str cpu_frames =
    STR_INIT("ProfileData::Add|ProfileData::prof_handler|"
             "CpuProfiler::prof_handler|__pthread_sighandler|__restore");

/* Returns true if the sample types are exactly those in `names`, which ends
 * with NULL. */
static bool has_types(const struct profile *p, const char *const *names)
{
    size_t n = 0;

    for (; names[n]; n++)
        if (n >= p->types.n ||
            !str_eq(profile_str(p, p->types.v[n].type), str_from(names[n])))
            return false;
    return n == p->types.n;
}

static bool is_heap(const struct profile *p)
{
    static const char *const types[][5] = {
        {"allocations", "size"},
        {"objects", "space"},
        {"inuse_objects", "inuse_space"},
        {"alloc_objects", "alloc_space"},
        {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (has_types(p, types[i]))
            return true;
    return false;
}

static void set_drop_frames(struct profile *p)
{
    static const char *const contention[] = {"contentions", "delay", NULL};

    if (is_heap(p)) {
        p->drop_frames = profile_intern(p, allocator_frames);
        p->keep_frames = profile_intern(p, allocator_keep);
    } else if (has_types(p, contention)) {
        p->drop_frames = profile_intern(p, lock_frames);
    } else {
        p->drop_frames = profile_intern(p, cpu_frames);
    }
}

struct profile *profile_parse_legacy(struct str bytes,
                                     const struct profile_limits *limits,
                                     struct error *err)
{
    static enum legacy_result (*const parsers[])(struct legacy *,
                                                 struct str) = {
        legacy_parse_cpu,    legacy_parse_heap,       legacy_parse_count,
        legacy_parse_thread, legacy_parse_contention, legacy_parse_java,
    };

    for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
        struct legacy l;
        enum legacy_result result;

        legacy_init(&l, limits, err);
        result = parsers[i](&l, bytes);
        legacy_release(&l);
        if (result == LEGACY_OK) {
            set_drop_frames(l.profile);
            return l.profile;
        }
        profile_free(l.profile);
        if (result == LEGACY_FAILED)
            return NULL;
    }
    error_set(err, "unrecognized profile format");
    return NULL;
}
