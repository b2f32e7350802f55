/* -proto: the filtered profile itself, gzipped. */
#include "base/number.h"
#include "profile/encode.h"
#include "report/context.h"

bool format_proto(struct report *r, struct buf *out, struct error *err)
{
    struct profile *p = r->profile;
    double ratio = 1 / r->config.divide_by;

    if (ratio > 0 && ratio != 1)
        for (size_t i = 0; i < p->n_samples * p->types.n; i++)
            p->values[i] = number_trunc((double)p->values[i] * ratio);
    return profile_encode_gzip(p, out, err);
}
