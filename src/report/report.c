/*
 * The way of every report: choose the value, filter, aggregate, print.
 *
 * The order is the original's and shows in numbers: percentages are of the
 * total before filters (unless relative_percentages), and pseudo frames of
 * tagroot exist before filters look at names.
 */
#include "report/report.h"

#include <assert.h>

#include "base/goformat.h"
#include "base/path.h"
#include "profile/aggregate.h"
#include "profile/tag_frames.h"
#include "report/context.h"
#include "report/filters.h"
#include "report/header.h"
#include "report/stack/change.h"
#include "report/total.h"

#define DRAIN_BYTES           ((size_t)1 << 20)
#define DEFAULT_GRAPH_NODES   80
#define DEFAULT_MARKDOWN_ROWS 20

/* clang-format off */
static report_body *const formats[] = {
    [REPORT_CALLGRIND] = format_callgrind,
    [REPORT_COMMENTS] = format_comments,
    [REPORT_DISASM] = format_disasm,
    [REPORT_DOT] = format_dot,
    [REPORT_EXPLAIN] = format_explain,
    [REPORT_FLAME] = format_flame,
    [REPORT_FOLDED] = format_folded,
    [REPORT_JSON] = format_json,
    [REPORT_LIST] = format_list,
    [REPORT_MARKDOWN] = format_markdown,
    [REPORT_PEEK] = format_tree,
    [REPORT_PROTO] = format_proto,
    [REPORT_RAW] = format_raw,
    [REPORT_SPEEDSCOPE] = format_speedscope,
    [REPORT_TAGS] = format_tags,
    [REPORT_TEXT] = format_text,
    [REPORT_TOPPROTO] = format_topproto,
    [REPORT_TRACES] = format_traces,
    [REPORT_TREE] = format_tree,
    [REPORT_WEBLIST] = format_weblist,
};
/* clang-format on */

/* The index of the type with this name, or types.n. */
static size_t find_type(const struct profile *p, struct str name)
{
    size_t i = 0;

    while (i < p->types.n && !str_eq(profile_str(p, p->types.v[i].type), name))
        i++;
    return i;
}

static bool unknown_type(const struct profile *p, struct str name,
                         struct error *err)
{
    struct buf text = BUF_INIT(sizeof(err->text));

    goformat_quote(&text, name);
    buf_add(&text, STR(" must be one of: ["));
    for (size_t i = 0; i < p->types.n; i++) {
        if (i > 0)
            buf_add_char(&text, ' ');
        buf_add(&text, profile_str(p, p->types.v[i].type));
    }
    error_set(err, "sample_index %s]", buf_cstr(&text));
    buf_release(&text);
    return false;
}

bool report_sample_index(const struct profile *p, struct str name, size_t *out,
                         struct error *err)
{
    const struct str in_use = STR("inuse_");
    struct str bare = name;
    size_t found;
    int64_t number;

    if (p->types.n == 0)
        return error_set(err, "profile has no samples");
    if (name.n == 0) {
        found = p->default_type ? find_type(p, profile_str(p, p->default_type))
                                : p->types.n;
        *out = found < p->types.n ? found : p->types.n - 1;
        return true;
    }
    if (str_to_i64(name, 10, &number)) {
        if (number < 0 || (uint64_t)number >= p->types.n)
            return error_set(
                err, "sample_index %" STR_FMT " is outside the range [0..%zu]",
                STR_ARG(name), p->types.n - 1);
        *out = (size_t)number;
        return true;
    }
    if (str_has_prefix(name, in_use))
        bare = str_skip(name, in_use.n);
    for (size_t i = 0; i < p->types.n; i++) {
        struct str type = profile_str(p, p->types.v[i].type);

        if (str_eq(type, name) || str_eq(type, bare)) {
            *out = i;
            return true;
        }
    }
    return unknown_type(p, name, err);
}

/* What a command means for the options, whatever the user set. */
static void override_config(struct report_config *c,
                            const struct report_request *q)
{
    int graph_nodes = c->nodecount == -1 ? DEFAULT_GRAPH_NODES : c->nodecount;

    switch (q->format) {
    case REPORT_DISASM:
        c->trim = false;
        c->granularity = STR("addresses");
        c->noinlines = true;
        break;
    case REPORT_WEBLIST:
        c->trim = false;
        c->granularity = STR("addresses");
        c->noinlines = false;
        break;
    case REPORT_LIST:
        c->trim = false;
        c->granularity = STR("lines");
        break;
    case REPORT_PEEK:
        c->trim = false;
        break;
    case REPORT_CALLGRIND:
    case REPORT_PROTO:
    case REPORT_RAW:
        c->trim = false;
        c->granularity = STR("addresses");
        break;
    case REPORT_SPEEDSCOPE: /* shows a file beside each name */
        if (c->granularity.n == 0)
            c->granularity = STR("filefunctions");
        break;
    case REPORT_JSON:
        if (c->granularity.n == 0)
            c->granularity = STR("filefunctions");
        if (c->nodecount == -1)
            c->nodecount = q->default_nodecount;
        break;
    case REPORT_MARKDOWN: /* for a comment under a change, not a page */
        if (c->nodecount == -1)
            c->nodecount = DEFAULT_MARKDOWN_ROWS;
        break;
    case REPORT_TEXT:
        if (c->nodecount == -1)
            c->nodecount = q->default_nodecount;
        break;
    case REPORT_EXPLAIN:
    case REPORT_FLAME:
    case REPORT_FOLDED:
        break; /* they choose by themselves */
    case REPORT_TOPPROTO:
        if (c->nodecount == -1)
            c->nodecount = 0;
        break;
    default:
        c->nodecount = graph_nodes;
        break;
    }
    if (!c->trim) {
        c->nodecount = 0;
        c->nodefraction = 0;
        c->edgefraction = 0;
    }
}

static void find_label_units(struct report *r)
{
    label_units_find(&r->label_units, r->arena, r->profile);
    for (size_t i = 0; i < r->label_units.units.n; i++) {
        const struct label_unit *u = &r->label_units.units.v[i];

        if (u->others.n == 0)
            continue;
        buf_add(r->warnings, STR("For tag "));
        buf_add(r->warnings, profile_str(r->profile, u->key));
        buf_add(r->warnings, STR(" used unit "));
        buf_add(r->warnings, u->unit);
        buf_add(r->warnings, STR(", also encountered unit(s) "));
        buf_add(r->warnings, u->others);
        buf_add_char(r->warnings, '\n');
    }
}

/* Which value is shown, and what follows from it. */
static bool select_value(struct report *r, struct error *err)
{
    const struct profile *p = r->profile;
    const struct value_type *type;

    if (!report_sample_index(p, r->config.sample_index, &r->value_index, err))
        return false;
    if (r->config.divide_by == 0)
        return error_set(err, "zero divisor specified");
    assert(r->value_index < p->types.n);
    type = &p->types.v[r->value_index];
    r->sample_type = profile_str(p, type->type);
    if (r->config.mean)
        r->sample_type = str_from(
            arena_printf(r->arena, "mean_%" STR_FMT, STR_ARG(r->sample_type)));
    r->sample_unit = profile_str(p, type->unit);
    r->output_unit = r->config.unit;
    if (p->mappings.n > 0 && p->mappings.v[0].file)
        r->title = path_base(profile_str(p, p->mappings.v[0].file));
    return true;
}

static bool compile_argument(struct report *r, struct error *err)
{
    struct str argument = r->request->argument;

    if (argument.n == 0)
        return true;
    r->argument = regex_new(argument, err);
    return r->argument || error_wrap(err, "parsing argument regexp %" STR_FMT,
                                     STR_ARG(argument));
}

/*
 * Pictures of stacks tell unsymbolized frames apart by address whatever the
 * granularity: in a stripped program everything would be one function that
 * calls itself.
 */
static bool draws_stacks(enum report_format format)
{
    return format == REPORT_FLAME || format == REPORT_FOLDED ||
           format == REPORT_SPEEDSCOPE;
}

static void aggregate_symbolized(struct report *r, struct granularity keep)
{
    struct profile *p = r->profile;
    uint64_t *addresses = arena_new_array(r->arena, uint64_t, p->locations.n);

    for (size_t i = 0; i < p->locations.n; i++)
        addresses[i] = p->locations.v[i].address;
    profile_aggregate(p, keep);
    for (size_t i = 0; i < p->locations.n; i++)
        if (p->locations.v[i].n_lines == 0)
            p->locations.v[i].address = addresses[i];
}

static void aggregate(struct report *r)
{
    const struct report_config *c = &r->config;
    struct str g = c->granularity;
    bool addresses = str_eq(g, STR("addresses"));
    bool lines = addresses || str_eq(g, STR("lines"));
    bool files = str_eq(g, STR("files"));
    struct granularity keep = {
        .inlines = !c->noinlines,
        .function = !files,
        .filename = lines || files || str_eq(g, STR("filefunctions")),
        .line = lines,
        .column = lines && c->showcolumns,
        .address = addresses,
    };

    if (addresses && keep.inlines)
        return;
    if (draws_stacks(r->request->format))
        aggregate_symbolized(r, keep);
    else
        profile_aggregate(r->profile, keep);
}

static void add_tag_frames(struct report *r)
{
    struct str roots = r->config.tagroot, leaves = r->config.tagleaf;
    struct tag_frames_matched m;

    if (roots.n == 0 && leaves.n == 0)
        return;
    m = profile_add_tag_frames(r->profile, roots, leaves, r->config.unit);
    if (roots.n && !m.root)
        buf_add(r->warnings, STR("TagRoot expression matched no samples\n"));
    if (leaves.n && !m.leaf)
        buf_add(r->warnings, STR("TagLeaf expression matched no samples\n"));
}

/* The filters of the config, and of those that come with it. */
static bool apply_filters(struct report *r, struct error *err)
{
    const struct report_config own = r->config;
    bool ok = report_apply_filters(r, err);

    for (size_t i = 0; ok && i < r->request->n_also; i++) {
        r->config = r->request->also[i];
        ok = report_apply_filters(r, err);
    }
    r->config = own;
    return ok;
}

static bool prepare(struct report *r, struct error *err)
{
    bool relative = r->config.relative_percentages;

    find_label_units(r);
    override_config(&r->config, r->request);
    add_tag_frames(r);
    if (relative && !apply_filters(r, err))
        return false;
    if (!select_value(r, err) || !compile_argument(r, err))
        return false;
    r->total = report_total(r);
    if (!relative && !apply_filters(r, err))
        return false;
    aggregate(r);
    return true;
}

bool report_drain(const struct report *r, struct buf *out, struct error *err)
{
    const struct report_request *q = r->request;

    if (!q->drain || out->len < DRAIN_BYTES)
        return true;
    if (!q->drain(q->drain_arg, buf_str(out), err))
        return false;
    buf_clear(out);
    return true;
}

bool report_write(struct profile *p, const struct report_request *request,
                  struct buf *out, struct buf *warnings, struct error *err)
{
    struct report r = {
        .arena = arena_new(),
        .profile = p,
        .request = request,
        .config = *request->config,
        .warnings = warnings,
    };
    report_body *format = request->body;
    bool ok;

    if (!format && (size_t)request->format < sizeof(formats) / sizeof(*formats))
        format = formats[request->format];
    assert(format);
    ok = prepare(&r, err) && format(&r, out, err);
    regex_free(r.argument);
    arena_free(r.arena);
    return ok;
}

/* A report without filters, as far as the profile lines need it. */
static bool describe(struct report *r, struct error *err)
{
    if (!select_value(r, err))
        return false;
    r->total = report_total(r);
    return true;
}

bool report_describe(const struct profile *p,
                     const struct report_config *config, struct buf *out,
                     struct buf *warnings, struct error *err)
{
    struct report r = {
        .arena = arena_new(),
        .profile = (struct profile *)p, /* only read here */
        .config = *config,
        .warnings = warnings,
    };
    bool ok;

    find_label_units(&r);
    ok = describe(&r, err);
    if (ok)
        report_add_profile_labels(&r, out);
    arena_free(r.arena);
    return ok;
}

bool report_selected_total(const struct profile *p,
                           const struct report_config *config, int64_t *out,
                           struct error *err)
{
    struct report r = {
        .arena = arena_new(),
        .profile = (struct profile *)p, /* only read here */
        .config = *config,
    };
    bool ok = describe(&r, err);

    if (ok)
        *out = r.total;
    arena_free(r.arena);
    return ok;
}

bool report_growth(struct profile *p, const struct report_config *config,
                   enum growth_of of, struct arena *a, struct growth *out,
                   struct error *err)
{
    struct buf warnings = arena_buf(a);
    struct report_request request = {.format = REPORT_EXPLAIN,
                                     .config = config};
    struct report r = {
        .arena = arena_new(),
        .profile = p,
        .request = &request,
        .config = *config,
        .warnings = &warnings,
    };
    struct report_stacks stacks;
    struct changes changes;
    bool ok = prepare(&r, err);

    if (ok) {
        report_stacks_make(&stacks, &r);
        changes_find(&changes, r.arena, &stacks, r.value_index);
        *out = growth_find(&changes, &stacks, of);
        out->name = arena_str(a, out->name);
    }
    buf_release(&warnings);
    arena_free(r.arena);
    return ok;
}
