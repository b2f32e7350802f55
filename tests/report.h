#ifndef TESTS_REPORT_H
#define TESTS_REPORT_H

/*
 * A profile, a format, the options, and the words that must come out.
 */
#include "report/report.h"
#include "test.h"

static inline struct report_config defaults(void)
{
    struct report_config c;

    config_init(&c);
    return c;
}

/* Frees the profile. */
static inline void expect_report(struct profile *p, enum report_format format,
                                 struct report_config config, const char *want)
{
    struct report_request request = {.format = format, .config = &config};
    struct buf out = BUF_INIT(BUF_NO_LIMIT), warnings = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};

    EXPECT(report_write(p, &request, &out, &warnings, &err));
    EXPECT_STR(buf_str(&out), want);
    EXPECT_STR(buf_str(&warnings), "");
    buf_release(&out);
    buf_release(&warnings);
    profile_free(p);
}

#endif
