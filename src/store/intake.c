/*
 * The arrays of an intake, which are used again for the next profile.
 */
#include "store/intake.h"

#include <stdlib.h>

static void release_ids(struct in_ids *ids)
{
    free(ids->slots);
}

void intake_release(struct intake *in)
{
    free(in->strings.v);
    free(in->types.v);
    free(in->mappings.v);
    free(in->functions.v);
    free(in->locations.v);
    free(in->lines.v);
    free(in->samples.v);
    free(in->stack.v);
    free(in->values.v);
    free(in->labels.v);
    free(in->comments.v);
    for (size_t i = 0; i < sizeof(in->spans) / sizeof(*in->spans); i++)
        free(in->spans[i].v);
    release_ids(&in->mapping_ids);
    release_ids(&in->function_ids);
    release_ids(&in->location_ids);
    buf_release(&in->inflated);
    *in = (struct intake){0};
}

void intake_clear(struct intake *in)
{
    in->strings.n = in->types.n = in->mappings.n = in->functions.n = 0;
    in->locations.n = in->lines.n = in->samples.n = in->stack.n = 0;
    in->values.n = in->labels.n = in->comments.n = 0;
    in->drop_frames = in->keep_frames = in->default_type = in->doc_url = 0;
    in->period_type = in->period_unit = 0;
    in->mapping_ids.used = in->function_ids.used = false;
    in->location_ids.used = false;
    for (size_t i = 0; i < sizeof(in->spans) / sizeof(*in->spans); i++)
        in->spans[i].n = 0;
}
