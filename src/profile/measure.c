/*
 * Units come in families (bytes, time and others) with known factors.  A
 * conversion is prepared once for a pair of units and then applied to many
 * values.  Rounding and spelling follow google/pprof digit by digit, since
 * reports are compared byte for byte.
 */
#include "profile/measure.h"

#include <math.h>

#include "base/number.h"

struct unit {
    struct str name;
    double factor;
    const char *spellings[4]; /* lower case, singular; NULL ends */
};

struct unit_family {
    const struct unit *units; /* small to large */
    size_t n;
    size_t usual; /* index of the unit for values that suit none */
};

static const struct unit byte_units[] = {
    {STR_INIT("B"), 1, {"b", "byte"}},
    {STR_INIT("kB"), 0x1p10, {"kb", "kbyte", "kilobyte"}},
    {STR_INIT("MB"), 0x1p20, {"mb", "mbyte", "megabyte"}},
    {STR_INIT("GB"), 0x1p30, {"gb", "gbyte", "gigabyte"}},
    {STR_INIT("TB"), 0x1p40, {"tb", "tbyte", "terabyte"}},
    {STR_INIT("PB"), 0x1p50, {"pb", "pbyte", "petabyte"}},
};

static const struct unit time_units[] = {
    {STR_INIT("ns"), 1, {"ns", "nanosecond"}},
    {STR_INIT("us"), 1e3, {"us", "microsecond"}},
    {STR_INIT("ms"), 1e6, {"ms", "millisecond"}},
    {STR_INIT("s"), 1e9, {"s", "sec", "second"}},
    {STR_INIT("hrs"), 3.6e12, {"hour", "hr"}},
};

static const struct unit gcu_units[] = {
    {STR_INIT("n*GCU"), 1e-9, {"nanogcu"}},
    {STR_INIT("u*GCU"), 1e-6, {"microgcu"}},
    {STR_INIT("m*GCU"), 1e-3, {"milligcu"}},
    {STR_INIT("GCU"), 1, {"gcu"}},
    {STR_INIT("k*GCU"), 1e3, {"kilogcu"}},
    {STR_INIT("M*GCU"), 1e6, {"megagcu"}},
    {STR_INIT("G*GCU"), 1e9, {"gigagcu"}},
    {STR_INIT("T*GCU"), 1e12, {"teragcu"}},
    {STR_INIT("P*GCU"), 1e15, {"petagcu"}},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct unit_family families[] = {
    {byte_units, COUNT(byte_units), 0},
    {time_units, COUNT(time_units), 3},
    {gcu_units, COUNT(gcu_units), 3},
};

static const struct unit_family *const time_family = &families[1];

/* The longest spelling with its plural s. */
#define MAX_SPELLING 16

/* Lower case, without the plural s; empty when it cannot be a known unit. */
static struct str normalise(struct str unit, char text[MAX_SPELLING])
{
    size_t n = unit.n;

    if (n > MAX_SPELLING)
        return STR("");
    for (size_t i = 0; i < n; i++) {
        char c = unit.s[i];

        text[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    if (n > 2 && text[n - 1] == 's')
        n--;
    return str_of(text, n);
}

static const struct unit *find_unit(const struct unit_family *family,
                                    struct str unit)
{
    char text[MAX_SPELLING];
    struct str wanted = normalise(unit, text);

    if (wanted.n == 0)
        return NULL;
    for (size_t i = 0; i < family->n; i++)
        for (const char *const *s = family->units[i].spellings; *s; s++)
            if (str_eq(str_from(*s), wanted))
                return &family->units[i];
    return NULL;
}

static struct str without_s(struct str s)
{
    return str_has_suffix(s, STR("s")) ? str_first(s, s.n - 1) : s;
}

bool measure_compatible(struct str type1, struct str unit1, struct str type2,
                        struct str unit2)
{
    if (!str_eq(without_s(type1), without_s(type2)))
        return false;
    if (str_eq(unit1, unit2))
        return true;
    for (size_t i = 0; i < COUNT(families); i++)
        if (find_unit(&families[i], unit1) && find_unit(&families[i], unit2))
            return true;
    return false;
}

bool measure_is_time(struct str unit)
{
    return find_unit(time_family, unit) != NULL;
}

static bool is_choice(struct str unit)
{
    return str_eq(unit, STR("minimum")) || str_eq(unit, STR("auto"));
}

/* Words for "just a number": nothing is printed behind it. */
static bool is_plain(struct str unit)
{
    return is_choice(unit) || str_eq(unit, STR("count")) ||
           str_eq(unit, STR("sample")) || str_eq(unit, STR("unit"));
}

static void set_target(struct measure *m, const struct unit *unit)
{
    m->to = unit->factor;
    m->unit = unit->name;
}

void measure_init(struct measure *m, struct str from, struct str to)
{
    *m = (struct measure){.unit = is_plain(to) ? STR("") : to};
    for (size_t i = 0; i < COUNT(families); i++) {
        const struct unit_family *family = &families[i];
        const struct unit *source = find_unit(family, from), *target;

        if (!source)
            continue;
        m->family = family;
        m->from = source->factor;
        if (is_choice(to))
            return;
        target = find_unit(family, to);
        set_target(m, target ? target : &family->units[family->usual]);
        return;
    }
}

static const struct unit *choose(const struct unit_family *family, double value)
{
    for (size_t i = family->n; i-- > 0;)
        if (value / family->units[i].factor >= 1)
            return &family->units[i];
    return &family->units[family->usual];
}

double measure_convert(const struct measure *m, int64_t value,
                       struct str *unit_out)
{
    struct measure chosen = *m;
    double amount;

    if (!m->family) {
        *unit_out = m->unit;
        return (double)value;
    }
    /* The most negative number has no positive twin to be scaled as. */
    if (value < 0 && value != INT64_MIN)
        return -measure_convert(m, -value, unit_out);
    amount = (double)value * m->from;
    if (chosen.to == 0)
        set_target(&chosen, choose(m->family, amount));
    *unit_out = chosen.unit;
    return amount / chosen.to;
}

/* "%.2f" without a ".00" at the end; true when that is zero. */
static bool add_amount(struct buf *out, double amount)
{
    size_t start = out->len;
    struct str text;

    if (fabs(amount) < 1e15 && amount == trunc(amount)) {
        buf_add_i64(out, (int64_t)amount);
        return amount == 0;
    }
    buf_addf(out, "%.2f", amount);
    text = str_skip(buf_str(out), start);
    if (str_has_suffix(text, STR(".00")))
        out->len -= 3;
    text = str_skip(buf_str(out), start);
    if (!str_eq(text, STR("0")) && !str_eq(text, STR("-0")))
        return false;
    out->len = start;
    buf_add_char(out, '0');
    return true;
}

void measure_add(const struct measure *m, struct buf *out, int64_t value)
{
    struct str unit;
    double amount = measure_convert(m, value, &unit);

    if (!add_amount(out, amount))
        buf_add(out, unit);
}

double measure_scale(int64_t value, struct str from, struct str to,
                     struct str *unit_out)
{
    struct measure m;

    measure_init(&m, from, to);
    return measure_convert(&m, value, unit_out);
}

void measure_label(struct buf *out, int64_t value, struct str from,
                   struct str to)
{
    struct measure m;

    measure_init(&m, from, to);
    measure_add(&m, out, value);
}

void measure_percentage(struct buf *out, int64_t value, int64_t total)
{
    double percent = 0;

    if (total != 0)
        percent = fabs((double)value / (double)total) * 100;
    if (percent >= 99.95 && percent <= 100.05)
        buf_add(out, STR("  100%"));
    else if (percent >= 1)
        buf_addf(out, "%5.2f%%", percent);
    else
        buf_addf(out, "%5.2g%%", percent);
}
