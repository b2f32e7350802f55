/*
 * Memory is what a large profile costs, so whatever is done with is given
 * back at once: compressed bytes when they are inflated, inflated ones while
 * they are decoded.  Files are read and not mapped, since one that shrinks
 * under its mapping would kill us.
 */
#include "profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/gzip.h"
#include "profile/check.h"
#include "profile/decode.h"
#include "profile/legacy.h"
#include "profile/text_stacks.h"

static struct profile *fail(struct error *err, const char *stage)
{
    error_wrap(err, "%s", stage);
    return NULL;
}

/* What to do when the bytes did not decode. */
static struct profile *parse_otherwise(struct str bytes,
                                       enum decode_verdict verdict,
                                       const struct profile_limits *limits,
                                       struct error *err)
{
    struct profile *p;

    switch (verdict) {
    case DECODE_REFUSED:
        return fail(err, "parsing profile");
    case DECODE_UNSOUND:
        return fail(err, "malformed profile");
    case DECODE_NOT_PROTO:
        break;
    }
    p = profile_parse_legacy(bytes, limits, err);
    if (!p && text_stacks_detect(bytes))
        p = text_stacks_parse(bytes, limits, err);
    if (!p)
        return fail(err, "parsing profile");
    if (!profile_check(p, err)) {
        profile_free(p);
        return fail(err, "malformed profile");
    }
    return p;
}

/* Bytes that are ours, and not compressed any more.  Releases them. */
static struct profile *parse_own(struct buf *bytes,
                                 const struct profile_limits *limits,
                                 struct error *err)
{
    enum decode_verdict verdict;
    struct profile *p = profile_decode_consume(bytes, limits, &verdict, err);

    if (!p)
        p = parse_otherwise(buf_str(bytes), verdict, limits, err);
    buf_release(bytes);
    return p;
}

/* Fills `raw`, which the caller releases whether it works or not. */
static bool inflate(struct str bytes, struct buf *raw,
                    const struct profile_limits *limits, struct error *err)
{
    raw->max = limits->inflated_bytes;
    return gzip_inflate(bytes, raw, err) ||
           error_wrap(err, "decompressing profile");
}

struct profile *profile_read_memory(struct str bytes,
                                    const struct profile_limits *limits,
                                    struct error *err)
{
    enum decode_verdict verdict;
    struct profile *p;

    if (!limits)
        limits = &profile_default_limits;
    if (bytes.n > limits->input_bytes) {
        error_set(err, "profile of %zu bytes, the limit is %zu", bytes.n,
                  limits->input_bytes);
        return NULL;
    }
    if (gzip_detect(bytes)) {
        struct arena *a = arena_new();
        struct buf raw = arena_buf(a);

        p = inflate(bytes, &raw, limits, err) ? parse_own(&raw, limits, err)
                                              : NULL;
        arena_free(a);
        return p;
    }
    p = profile_decode(bytes, limits, &verdict, err);
    return p ? p : parse_otherwise(bytes, verdict, limits, err);
}

struct profile *profile_read_buf(struct buf *bytes,
                                 const struct profile_limits *limits,
                                 struct error *err)
{
    struct profile *p;
    struct arena *a;
    struct buf raw;
    bool ok;

    if (!limits)
        limits = &profile_default_limits;
    if (!gzip_detect(buf_str(bytes)))
        return parse_own(bytes, limits, err);
    a = arena_new();
    raw = arena_buf(a);
    ok = inflate(buf_str(bytes), &raw, limits, err);
    buf_release(bytes); /* before the profile takes its memory */
    p = ok ? parse_own(&raw, limits, err) : NULL;
    arena_free(a);
    return p;
}

/* Reads all of the file before anything is parsed, and closes it if told so:
 * no descriptor is held while the profile is made. */
static struct profile *read_open(int fd, bool close_fd, const char *name,
                                 const struct profile_limits *limits,
                                 struct error *err)
{
    struct arena *a = arena_new();
    struct buf bytes = arena_buf(a);
    struct profile *p = NULL;
    bool ok;

    bytes.max = (limits ? limits : &profile_default_limits)->input_bytes;
    ok = file_read_fd(fd, name, &bytes, err);
    if (close_fd)
        close(fd);
    if (ok)
        p = profile_read_buf(&bytes, limits, err);
    arena_free(a);
    return p;
}

struct profile *profile_read_fd(int fd, const struct profile_limits *limits,
                                struct error *err)
{
    return read_open(fd, false, "input", limits, err);
}

struct profile *profile_read_file(const char *path,
                                  const struct profile_limits *limits,
                                  struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        error_set_os(err, "open", path, errno);
        return NULL;
    }
    return read_open(fd, true, path, limits, err);
}
