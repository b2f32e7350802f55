/*
 * A line is put together in an array on the stack and handed to the sink in
 * one piece.  The level and the sink are the two variables of the process
 * that any thread may read; a log that had to be passed to every function
 * would not be used by them.
 */
#include "base/log.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"

struct line {
    size_t n;
    char bytes[LOG_LINE_MAX];
};

static struct {
    _Atomic int level;
    void (*sink)(void *arg, struct str line);
    void *arg;
} state = {.level = LOG_LEVEL_INFO};

static const char *const names[] = {
    [LOG_LEVEL_DEBUG] = "debug",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_ERROR] = "error",
};

/* --- the line ------------------------------------------------------------- */

/* The last byte is kept for the newline. */
static void add(struct line *l, struct str text)
{
    size_t room = sizeof(l->bytes) - 1 - l->n;

    text = str_first(text, room);
    if (text.n)
        memcpy(l->bytes + l->n, text.s, text.n);
    l->n += text.n;
}

static void add_char(struct line *l, char c)
{
    add(l, str_of(&c, 1));
}

static void add_u64(struct line *l, uint64_t value)
{
    char digits[NUMBER_I64_MAX];

    add(l, str_of(digits, number_put_u64(digits, value)));
}

/* With leading zeros. */
static void add_digits(struct line *l, uint64_t value, size_t width)
{
    char digits[NUMBER_I64_MAX];

    for (size_t i = width; i-- > 0; value /= 10)
        digits[i] = (char)('0' + value % 10);
    add(l, str_of(digits, width));
}

/* RFC 3339 in UTC, to the millisecond. */
static void add_time(struct line *l)
{
    struct timespec now = {0};
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    add_digits(l, (uint64_t)tm.tm_year + 1900, 4);
    add_char(l, '-');
    add_digits(l, (uint64_t)tm.tm_mon + 1, 2);
    add_char(l, '-');
    add_digits(l, (uint64_t)tm.tm_mday, 2);
    add_char(l, 'T');
    add_digits(l, (uint64_t)tm.tm_hour, 2);
    add_char(l, ':');
    add_digits(l, (uint64_t)tm.tm_min, 2);
    add_char(l, ':');
    add_digits(l, (uint64_t)tm.tm_sec, 2);
    add_char(l, '.');
    add_digits(l, (uint64_t)now.tv_nsec / 1000000, 3);
    add_char(l, 'Z');
}

/* --- values --------------------------------------------------------------- */

static bool needs_quotes(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];

        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f)
            return true;
    }
    return text.n == 0;
}

static void add_escaped(struct line *l, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";

    if (c == '"' || c == '\\') {
        add_char(l, '\\');
        add_char(l, (char)c);
    } else if (c == '\n') {
        add(l, STR("\\n"));
    } else if (c == '\t') {
        add(l, STR("\\t"));
    } else {
        add(l, STR("\\x"));
        add_char(l, hex[c >> 4]);
        add_char(l, hex[c & 15]);
    }
}

static void add_value(struct line *l, struct str text)
{
    if (!needs_quotes(text)) {
        add(l, text);
        return;
    }
    add_char(l, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];

        if (c < ' ' || c == '"' || c == '\\' || c == 0x7f)
            add_escaped(l, c);
        else
            add_char(l, (char)c);
    }
    add_char(l, '"');
}

static void add_signed(struct line *l, int64_t value)
{
    char digits[NUMBER_I64_MAX];

    add(l, str_of(digits, number_put_i64(digits, value)));
}

static void add_duration(struct line *l, int64_t ns)
{
    uint64_t ms = (uint64_t)(ns < 0 ? 0 : ns) / 1000000;

    add_u64(l, ms / 1000);
    add_char(l, '.');
    add_digits(l, ms % 1000, 3);
    add_char(l, 's');
}

static void add_field(struct line *l, const struct log_field *f)
{
    add_char(l, ' ');
    add(l, str_from(f->key));
    add_char(l, '=');
    switch (f->kind) {
    case LOG_TEXT:
        add_value(l, f->text);
        break;
    case LOG_UNSIGNED:
        add_u64(l, f->number);
        break;
    case LOG_SIGNED:
        add_signed(l, (int64_t)f->number);
        break;
    case LOG_DURATION:
        add_duration(l, (int64_t)f->number);
        break;
    }
}

struct log_field log_str(const char *key, struct str value)
{
    return (struct log_field){.key = key, .kind = LOG_TEXT, .text = value};
}

struct log_field log_text(const char *key, const char *value)
{
    return log_str(key, str_from(value));
}

struct log_field log_u64(const char *key, uint64_t value)
{
    return (struct log_field){
        .key = key, .kind = LOG_UNSIGNED, .number = value};
}

struct log_field log_i64(const char *key, int64_t value)
{
    return (struct log_field){
        .key = key, .kind = LOG_SIGNED, .number = (uint64_t)value};
}

struct log_field log_ns(const char *key, int64_t ns)
{
    return (struct log_field){
        .key = key, .kind = LOG_DURATION, .number = (uint64_t)ns};
}

struct log_field log_failure(const struct error *err)
{
    return log_text("error", err->text);
}

/* --- events --------------------------------------------------------------- */

static void write_stderr(struct str line)
{
    (void)!write(STDERR_FILENO, line.s, line.n); /* nobody left to tell */
}

void log_event(enum log_level level, const char *message,
               const struct log_field *fields, size_t n)
{
    struct line l = {.n = 0};

    add_time(&l);
    add_char(&l, ' ');
    add(&l, str_from(names[level]));
    add_char(&l, ' ');
    add(&l, str_from(message));
    for (size_t i = 1; i < n; i++)
        add_field(&l, &fields[i]);
    l.bytes[l.n++] = '\n';
    if (state.sink)
        state.sink(state.arg, str_of(l.bytes, l.n));
    else
        write_stderr(str_of(l.bytes, l.n));
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&state.level, (int)level, memory_order_relaxed);
}

bool log_wants(enum log_level level)
{
    return (int)level >=
           atomic_load_explicit(&state.level, memory_order_relaxed);
}

bool log_level_parse(struct str text, enum log_level *out)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (str_eq(text, str_from(names[i]))) {
            *out = (enum log_level)i;
            return true;
        }
    return false;
}

void log_set_sink(void (*sink)(void *arg, struct str line), void *arg)
{
    state.sink = sink;
    state.arg = arg;
}
