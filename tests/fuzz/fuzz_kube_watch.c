/*
 * Bytes as replies to a list and to watches: cut anywhere, the outcome is the
 * same, and a request is always due again.
 *
 * The first byte chooses the size of the pieces, the second the status;
 * replies are separated by a zero byte.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "kube/list_watch.h"

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void feed(struct list_watch *lw, struct str body, size_t step)
{
    bool ok = true;

    while (ok && body.n) {
        size_t n = body.n < step ? body.n : step;

        ok = list_watch_body(lw, str_first(body, n));
        body = str_skip(body, n);
    }
    list_watch_end(lw, ok, "hung up", 2 * SECOND);
}

static uint64_t run(struct str input, int status, size_t step)
{
    static const int statuses[] = {200, 410, 403, 500};
    const struct kube_target_options options = {0};
    struct pod_table table;
    struct list_watch lw;
    struct error err;
    struct str body;
    uint64_t outcome;

    must(pod_table_init(&table, &options, 1 << 16, &err));
    list_watch_init(&lw,
                    &(struct list_watch_options){.page = 10,
                                                 .watch_seconds = 10,
                                                 .min_pause_ns = SECOND,
                                                 .max_pause_ns = 8 * SECOND,
                                                 .max_object_bytes = 1 << 16},
                    &table);
    while (str_split(&input, '\0', &body)) {
        struct buf url = BUF_INIT(1 << 16);

        list_watch_begin(&lw, SECOND, &url);
        must(buf_ok(&url));
        buf_release(&url);
        list_watch_answer(&lw, statuses[status & 3], 0);
        feed(&lw, body, step);
        must(!lw.is_busy && lw.due_ns >= 2 * SECOND &&
             lw.due_ns <= 10 * SECOND);
        status >>= 2;
    }
    outcome = table.n * 1000003 + lw.events * 1009 + lw.lists * 31 + lw.phase;
    list_watch_release(&lw);
    pod_table_release(&table);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_of((const char *)data, size);

    if (size < 2)
        return 0;
    input = str_skip(input, 2);
    must(run(input, data[1], 1 + data[0] % 64) == run(input, data[1], 1 << 20));
    return 0;
}
