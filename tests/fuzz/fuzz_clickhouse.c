/*
 * What comes from a ClickHouse server, and its URL.  The first byte says
 * which: rows of profiles, records (of which the first eight fingerprints are
 * wanted), or a URL.
 */
#include "store/clickhouse/address.h"
#include "store/clickhouse/load.h"
#include "store/clickhouse/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_rows(struct str bytes, bool with_samples)
{
    struct wire_reader r = unpack_begin(bytes);
    struct row_meta meta = {0};
    struct row_samples samples = {0};
    struct buf text = BUF_INIT((size_t)1 << 20);
    struct loader l;
    struct ch_row row;

    if (!loader_init(&l, NULL, NULL))
        return;
    while (wire_more(&r) && ch_row_read(&r, with_samples, &row)) {
        ch_pack_labels(row.label_keys, row.label_values, row.n_labels, &text);
        ch_row_want(&row, with_samples, &l);
        ch_row_meta(&row, with_samples, &l, &meta, &text);
        if (with_samples)
            ch_row_samples(&row, &l, &samples);
    }
    row_meta_release(&meta);
    row_samples_release(&samples);
    buf_release(&text);
    loader_release(&l);
}

static void read_records(struct str bytes)
{
    struct loader l;
    struct error err;
    uint64_t print;

    if (!loader_init(&l, NULL, NULL))
        return;
    for (unsigned i = 0; i < 8 && bytes.n >= 8; i++) {
        memcpy(&print, bytes.s, 8);
        bytes = str_skip(bytes, 8);
        loader_want(&l, i % KINDS, print);
    }
    for (unsigned level = 0; level < LOAD_LEVELS; level++) {
        buf_add(&l.replies[level], bytes);
        loader_take(&l, level);
    }
    loader_finish(&l, &err);
    loader_release(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);
    struct clickhouse_address a;
    struct error err;

    if (size == 0)
        return 0;
    bytes = str_skip(bytes, 1);
    switch (data[0] % 4) {
    case 0:
        clickhouse_address_parse(bytes, &a, &err);
        break;
    case 1:
        read_records(bytes);
        break;
    default:
        read_rows(bytes, data[0] % 2);
    }
    return 0;
}
