#include "profile/sweep.h"

#include <assert.h>
#include <string.h>

void sweep_init(struct sweep *s, struct profile *p)
{
    *s = (struct sweep){.p = p};
}

bool sweep_next(struct sweep *s)
{
    struct profile *p = s->p;

    assert(s->kept <= s->next && s->next <= p->n_samples);
    if (s->next == p->n_samples) {
        p->n_samples = s->kept;
        p->loc_start[s->kept] = s->kept_frames;
        p->label_start[s->kept] = s->kept_labels;
        return false;
    }
    /* The starts are remembered here: keeping a sample overwrites them. */
    s->sample = s->next++;
    s->frame = s->next_frame;
    s->label = s->next_label;
    s->frame_end = s->next_frame = p->loc_start[s->next];
    s->label_end = s->next_label = p->label_start[s->next];
    return true;
}

static void move(void *array, size_t to, size_t from, size_t n, size_t size)
{
    char *bytes = array;

    if (to != from && n)
        memmove(bytes + to * size, bytes + from * size, n * size);
}

void sweep_keep(struct sweep *s)
{
    struct profile *p = s->p;
    size_t frames = s->frame_end - s->frame, labels = s->label_end - s->label;

    assert(s->frame <= s->frame_end && s->label <= s->label_end);
    move(p->stack, s->kept_frames, s->frame, frames, sizeof(*p->stack));
    move(p->labels, s->kept_labels, s->label, labels, sizeof(*p->labels));
    move(p->values, s->kept, s->sample, 1, p->types.n * sizeof(*p->values));
    s->kept++;
    s->kept_frames += frames;
    s->kept_labels += labels;
    p->loc_start[s->kept] = s->kept_frames;
    p->label_start[s->kept] = s->kept_labels;
}
