#include "collector/profefe_reply.h"

#include "base/time_text.h"
#include "collector/go_json.h"

static void add_labels(struct buf *out, const struct store_profile *p)
{
    buf_add(out, STR(",\"labels\":["));
    for (size_t i = 0; i < p->n_labels; i++) {
        buf_add(out, i > 0 ? STR(",{\"key\":") : STR("{\"key\":"));
        go_json_string(out, p->labels[i].key);
        buf_add(out, STR(",\"value\":"));
        go_json_string(out, p->labels[i].value);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

void profefe_add_profile(struct buf *out, const struct store_profile *p)
{
    char id[STORE_ID_TEXT + 1];

    store_id_format(&p->id, id);
    buf_addf(out, "{\"id\":\"%s\",\"type\":", id);
    go_json_string(out, p->type);
    buf_add(out, STR(",\"service\":"));
    go_json_string(out, p->service);
    if (p->n_labels > 0)
        add_labels(out, p);
    buf_add(out, STR(",\"created_at\":\""));
    time_add_rfc3339(out, p->created_at_ns);
    buf_add(out, STR("\"}"));
}
