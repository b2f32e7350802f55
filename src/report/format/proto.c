/* -proto: the filtered profile itself, gzipped. */
#include "profile/encode.h"
#include "report/context.h"

bool format_proto(struct report *r, struct buf *out, struct error *err)
{
    struct profile *p = r->profile;

    for (size_t i = 0; i < p->n_samples * p->types.n; i++)
        p->values[i] = report_divided(r, p->values[i]);
    return profile_encode_gzip_consume(p, out, err);
}
