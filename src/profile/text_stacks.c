/*
 * Two line-based formats with names in them.  Detection looks at the whole
 * text before parsing, because both are close to ordinary text: a file that
 * merely starts like one of them must be left to the other readers.
 */
#include "profile/text_stacks.h"

#include "profile/merge.h"
#include "profile/named_stack.h"
#include "profile/text_scan.h"

static void add_type(struct profile *p, struct str type, struct str unit)
{
    *vec_push(p->arena, &p->types) =
        (struct value_type){profile_intern(p, type), profile_intern(p, unit)};
}

/* --- folded stacks ------------------------------------------------------ */

/* "main;work 42" -> the frames and the number behind the last blank. */
static bool split_folded(struct str line, struct str *frames, int64_t *count)
{
    ptrdiff_t blank;

    line = str_trim(line);
    blank = str_rfind_char(line, ' ');
    if (blank <= 0 || !str_to_i64(str_skip(line, (size_t)blank + 1), 10, count))
        return false;
    *frames = str_trim(str_first(line, (size_t)blank));
    return frames->n > 0;
}

static bool is_folded(struct str text)
{
    struct str line, frames;
    int64_t count;
    bool has_stack = false;

    while (str_next_line(&text, &line)) {
        if (scan_is_blank_or_comment(line))
            continue;
        if (!split_folded(line, &frames, &count) ||
            memchr(line.s, '\0', line.n))
            return false;
        has_stack |= str_find_char(frames, ';') > 0;
    }
    return has_stack;
}

static bool add_folded(struct named_stack *s, struct str frames, int64_t count,
                       struct error *err)
{
    /* The outermost comes first: taken off from the end. */
    while (frames.n) {
        ptrdiff_t at = str_rfind_char(frames, ';');
        struct str name = str_skip(frames, (size_t)(at + 1));

        frames = str_first(frames, at < 0 ? 0 : (size_t)at);
        if (name.n && !named_stack_frame(s, name, STR(""), 0, err))
            return false;
    }
    return named_stack_end(s, &count, err);
}

static bool parse_folded(struct named_stack *s, struct str text,
                         struct error *err)
{
    struct str line, frames;
    int64_t count;

    add_type(s->profile, STR("samples"), STR("count"));
    while (str_next_line(&text, &line))
        if (!scan_is_blank_or_comment(line) &&
            split_folded(line, &frames, &count) &&
            !add_folded(s, frames, count, err))
            return false;
    return true;
}

/* --- perf script -------------------------------------------------------- */

/*
 *     redis-server  2134/2135 [001] 13737.072771:    2004008 cpu-clock:u:
 *     \t   114a leaf+0x11 (/usr/bin/redis-server)
 *
 * Without stacks the one frame stands behind the event.
 */
struct event {
    struct str comm, name;
    struct str frame; /* with the blank before it; "" none */
    int64_t pid, tid, period;
    bool has_pid, has_tid, has_period;
};

/* "2134" or "2134/2135" */
static bool scan_ids(struct str word, struct event *e)
{
    ptrdiff_t slash = str_find_char(word, '/');

    e->has_pid = slash > 0;
    if (e->has_pid)
        return str_to_i64(str_first(word, (size_t)slash), 10, &e->pid) &&
               str_to_i64(str_skip(word, (size_t)slash + 1), 10, &e->tid);
    return str_to_i64(word, 10, &e->tid);
}

/* "13737.072771:" */
static bool is_time(struct str word)
{
    struct str digits;

    return scan_digits(&word, &digits) && scan_char(&word, '.') &&
           scan_digits(&word, &digits) && str_eq(word, STR(":"));
}

static struct str next_word(struct str *s)
{
    struct str word;

    *s = str_trim(*s);
    word = str_first(*s, 0);
    while (word.n < s->n && !scan_is_space(s->s[word.n]))
        word.n++;
    *s = str_skip(*s, word.n);
    return word;
}

/* "cpu-clock:u:" -> "cpu-clock:u", which may be glued to what follows. */
static bool scan_event_name(struct str *s, struct event *e)
{
    struct str word = next_word(s);

    if (word.n < 2 || word.s[word.n - 1] != ':')
        return false;
    e->name = str_first(word, word.n - 1);
    e->frame = str_trim(*s).n ? *s : STR("");
    return true;
}

/* The name of a command may have blanks: the ids are the first word from
 * which on everything fits. */
static bool parse_event(struct str line, struct event *e)
{
    struct str rest = line;

    line = rest = str_trim(line); /* short names stand to the right */
    next_word(&rest);
    while (rest.n) {
        size_t before = line.n - rest.n;
        struct str ids = next_word(&rest), after = rest, word;

        *e = (struct event){.comm = str_trim(str_first(line, before))};
        if (!scan_ids(ids, e))
            continue;
        e->has_tid = true;
        word = next_word(&after);
        if (word.n && word.s[0] == '[')
            word = next_word(&after);
        if (!is_time(word))
            continue;
        word = after;
        e->has_period = str_to_i64(next_word(&word), 10, &e->period);
        if (e->has_period)
            after = word;
        if (scan_event_name(&after, e))
            return true;
    }
    return false;
}

struct script_frame {
    uint64_t address;
    struct str function, module;
};

/* "  114a leaf+0x11 (/usr/bin/x)" */
static bool parse_frame(struct str line, struct script_frame *f)
{
    struct str digits;
    ptrdiff_t at;

    if (line.n == 0 || !scan_is_space(line.s[0]))
        return false;
    line = str_trim(line);
    if (!scan_hex(&line, &digits) || !str_to_u64(digits, 16, &f->address) ||
        !scan_spaces(&line))
        return false;
    f->module = STR("");
    for (at = str_rfind_char(line, '('); at > 0 && line.s[at - 1] != ' ';)
        at = str_rfind_char(str_first(line, (size_t)at), '(');
    if (at >= 0 && line.n && line.s[line.n - 1] == ')') {
        f->module =
            str_first(str_skip(line, (size_t)at + 1), line.n - (size_t)at - 2);
        line = str_trim(str_first(line, (size_t)at));
    }
    at = str_rfind_char(line, '+');
    if (at > 0 && str_has_prefix(str_skip(line, (size_t)at), STR("+0x")))
        line = str_first(line, (size_t)at);
    f->function = line.n ? line : STR("[unknown]");
    if (str_eq(f->module, STR("inlined")))
        f->module = STR("");
    return true;
}

/* The first lines must be an event and its frames. */
static bool is_script(struct str text)
{
    struct script_frame f;
    struct event e;
    struct str line = STR(""); /* there may be none */

    while (str_next_line(&text, &line))
        if (!scan_is_blank_or_comment(line))
            break;
    if (!parse_event(line, &e))
        return false;
    while (str_next_line(&text, &line) && str_trim(line).n)
        if (parse_event(line, &e))
            break; /* no stacks: the next one */
        else if (!parse_frame(line, &f))
            return false;
    return true;
}

static bool is_clock(struct str event)
{
    return str_has_prefix(event, STR("cpu-clock")) ||
           str_has_prefix(event, STR("task-clock"));
}

static bool end_event(struct named_stack *s, const struct event *e,
                      struct error *err)
{
    const struct profile *p = s->profile;
    int64_t values[2] = {1, 0};

    /* Of several kinds of event only those of the first are added up. */
    if (p->types.n > 1 && str_eq(profile_str(p, p->types.v[1].type), e->name))
        values[1] = e->period;
    named_stack_label(s, STR("comm"), e->comm);
    if (e->has_pid)
        named_stack_number(s, STR("pid"), e->pid);
    named_stack_number(s, STR("tid"), e->tid);
    return named_stack_end(s, values, err);
}

static bool parse_script(struct named_stack *s, struct str text,
                         struct error *err)
{
    struct profile *p = s->profile;
    struct event e = {.period = 0}, next;
    struct script_frame f;
    struct str line;
    bool open = false;

    add_type(p, STR("samples"), STR("count"));
    while (str_next_line(&text, &line)) {
        if (str_has_prefix(line, STR("#")))
            continue;
        /* "abc 12 1.5: …" looks like a frame, too. */
        if (open && !parse_event(line, &next) && parse_frame(line, &f)) {
            if (!named_stack_frame(s, f.function, f.module, f.address, err))
                return false;
            continue;
        }
        if (open && !end_event(s, &e, err))
            return false;
        open = parse_event(line, &e);
        if (open && parse_frame(e.frame, &f) &&
            !named_stack_frame(s, f.function, f.module, f.address, err))
            return false;
        if (open && p->types.n == 1 && p->n_samples == 0 && e.has_period)
            add_type(p, e.name,
                     is_clock(e.name) ? STR("nanoseconds") : STR("count"));
    }
    return !open || end_event(s, &e, err);
}

/* --- both --------------------------------------------------------------- */

bool text_stacks_detect(struct str text)
{
    return is_script(text) || is_folded(text);
}

struct profile *text_stacks_parse(struct str text,
                                  const struct profile_limits *limits,
                                  struct error *err)
{
    struct profile *p = profile_new(), *merged = NULL;
    struct named_stack s;
    bool ok;

    named_stack_init(&s, p, limits);
    ok = is_script(text) ? parse_script(&s, text, err)
                         : parse_folded(&s, text, err);
    /* Equal stacks are added up. */
    if (ok)
        merged = profile_merge(&p, 1, err);
    profile_free(p);
    return merged;
}
