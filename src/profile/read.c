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

const struct profile_limits profile_default_limits = {
    .input_bytes = (size_t)4 << 30,
    .inflated_bytes = (size_t)16 << 30,
    .samples = (size_t)1 << 32,
    .string_bytes = (size_t)4 << 30,
    .stack_depth = (size_t)1 << 24,
};

static struct profile *fail(struct error *err, const char *stage)
{
    error_wrap(err, "%s", stage);
    return NULL;
}

/* Bytes that are not compressed, or no longer. */
static struct profile *
parse(struct str bytes, const struct profile_limits *limits, struct error *err)
{
    enum decode_verdict verdict;
    struct profile *p = profile_decode(bytes, limits, &verdict, err);

    if (p)
        return p;
    switch (verdict) {
    case DECODE_REFUSED:
        return fail(err, "parsing profile");
    case DECODE_UNSOUND:
        return fail(err, "malformed profile");
    case DECODE_NOT_PROTO:
        break;
    }
    p = profile_parse_legacy(bytes, limits, err);
    if (!p)
        return fail(err, "parsing profile");
    if (!profile_check(p, err)) {
        profile_free(p);
        return fail(err, "malformed profile");
    }
    return p;
}

/* `owned` holds the bytes if they are ours, to be freed as soon as they are
 * not needed any more. */
static struct profile *read_bytes(struct str bytes, struct buf *owned,
                                  const struct profile_limits *limits,
                                  struct error *err)
{
    struct buf raw = BUF_INIT(limits->inflated_bytes);
    struct profile *p = NULL;

    if (!gzip_detect(bytes))
        return parse(bytes, limits, err);
    if (gzip_inflate(bytes, &raw, err)) {
        if (owned)
            buf_release(owned);
        p = parse(buf_str(&raw), limits, err);
    } else {
        fail(err, "decompressing profile");
    }
    buf_release(&raw);
    return p;
}

struct profile *profile_read_memory(struct str bytes,
                                    const struct profile_limits *limits,
                                    struct error *err)
{
    if (!limits)
        limits = &profile_default_limits;
    if (bytes.n > limits->input_bytes) {
        error_set(err, "profile of %zu bytes, the limit is %zu", bytes.n,
                  limits->input_bytes);
        return NULL;
    }
    return read_bytes(bytes, NULL, limits, err);
}

static struct profile *read_open(int fd, const char *name,
                                 const struct profile_limits *limits,
                                 struct error *err)
{
    struct buf bytes;
    struct profile *p = NULL;

    if (!limits)
        limits = &profile_default_limits;
    bytes = BUF_INIT(limits->input_bytes);
    if (file_read_fd(fd, name, &bytes, err))
        p = read_bytes(buf_str(&bytes), &bytes, limits, err);
    buf_release(&bytes);
    return p;
}

struct profile *profile_read_fd(int fd, const struct profile_limits *limits,
                                struct error *err)
{
    return read_open(fd, "input", limits, err);
}

struct profile *profile_read_file(const char *path,
                                  const struct profile_limits *limits,
                                  struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct profile *p;

    if (fd < 0) {
        error_set_os(err, "open", path, errno);
        return NULL;
    }
    p = read_open(fd, path, limits, err);
    close(fd);
    return p;
}
