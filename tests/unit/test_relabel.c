#include "test.h"

#include "base/md5.h"
#include "base/number.h"
#include "collector/scrape/relabel.h"
#include "config/document.h"

/*
 * Applies rules, written in YAML, to labels, written "a=1 b=2", and gives the
 * labels, "dropped", or the error.
 */
static const char *relabelled(const char *labels, const char *yaml)
{
    static char result[8192];
    struct arena *a = arena_new();
    struct relabel_rules rules = {0};
    struct label_set set = {0};
    struct error err = {""};
    struct str rest = str_from(labels), pair;
    const struct node *root =
        document_read_yaml(a, (struct document_source){"rules", str_from(yaml)},
                           &document_default_limits, &err);
    bool keep;
    size_t at = 0;

    while (str_split(&rest, ' ', &pair)) {
        ptrdiff_t equals = str_find_char(pair, '=');

        label_set_put(a, &set, str_first(pair, (size_t)equals),
                      str_skip(pair, (size_t)equals + 1));
    }
    result[0] = '\0';
    if (!root || !relabel_read(&rules, a, root, &err) ||
        !relabel_apply(&rules, a, &set, &keep, &err))
        snprintf(result, sizeof(result), "%s", err.text);
    else if (!keep)
        snprintf(result, sizeof(result), "dropped");
    else
        for (size_t i = 0; i < set.n; i++)
            at += (size_t)snprintf(
                result + at, sizeof(result) - at, "%s%" STR_FMT "=%" STR_FMT,
                i ? " " : "", STR_ARG(set.v[i].name), STR_ARG(set.v[i].value));
    relabel_release(&rules);
    arena_free(a);
    return result;
}

#define EXPECT_RELABELLED(labels, yaml, want)                                  \
    EXPECT_STR(str_from(relabelled(labels, yaml)), want)

TEST(replace_is_the_default)
{
    EXPECT_RELABELLED("a=foo b=bar",
                      "- {source_labels: [a], regex: 'f(.*)', target_label: d, "
                      "replacement: 'ch${1}-ch${1}'}",
                      "a=foo b=bar d=choo-choo");
    EXPECT_RELABELLED("a=foo b=bar c=baz",
                      "- {source_labels: [a, b], regex: 'f(.*);(.*)r', "
                      "target_label: a, replacement: 'b${1}${2}m'}\n"
                      "- {source_labels: [c, a], regex: '(b).*b(.*)ba(.*)', "
                      "target_label: d, replacement: '$1$2$2$3'}",
                      "a=boobam b=bar c=baz d=boooom");
}

TEST(replace_with_defaults_copies_the_label)
{
    EXPECT_RELABELLED("a=foo", "- {source_labels: [a], target_label: b}",
                      "a=foo b=foo");
    EXPECT_RELABELLED("a=foo",
                      "- {source_labels: [a], separator: '@', "
                      "target_label: b, replacement: static}",
                      "a=foo b=static");
}

TEST(replace_without_a_match_changes_nothing)
{
    EXPECT_RELABELLED("a=foo",
                      "- {source_labels: [a], regex: 'fo', target_label: b}",
                      "a=foo");
    EXPECT_RELABELLED("a=foo",
                      "- {source_labels: [missing], regex: 'x', "
                      "target_label: b, replacement: y}",
                      "a=foo");
}

TEST(an_empty_replacement_removes_the_label)
{
    EXPECT_RELABELLED("a=foo f=baz",
                      "- {source_labels: [f], regex: '(.*).*', target_label: "
                      "f, replacement: ''}",
                      "a=foo");
}

TEST(the_target_label_is_expanded_too)
{
    EXPECT_RELABELLED("a=some-name-value",
                      "- {source_labels: [a], regex: 'some-([^-]+)-([^,]+)', "
                      "target_label: '${1}', replacement: '${2}'}",
                      "a=some-name-value name=value");
    /* what is no label name changes nothing */
    EXPECT_RELABELLED("a=some-name-0",
                      "- {source_labels: [a], regex: 'some-([^-]+)-([^,]+)', "
                      "target_label: '${2}', replacement: '${1}'}",
                      "a=some-name-0");
}

TEST(expansion_as_in_go)
{
    EXPECT_RELABELLED("a=xyz",
                      "- {source_labels: [a], regex: '(?P<first>.)(.*)', "
                      "target_label: b, replacement: '${first}|$2|$$|$1x|$9|$'"
                      "}",
                      "a=xyz b=x|yz|$|||$");
}

TEST(expressions_cover_the_whole_value)
{
    EXPECT_RELABELLED("a=foobar",
                      "- {source_labels: [a], regex: 'foo', action: keep}",
                      "dropped");
    EXPECT_RELABELLED("a=foobar",
                      "- {source_labels: [a], regex: 'foo|foobar', action: "
                      "keep}",
                      "a=foobar");
    EXPECT_RELABELLED("a=b",
                      "- {source_labels: [a], regex: 'a|b|c', action: "
                      "drop}",
                      "dropped");
}

TEST(keep_and_drop)
{
    EXPECT_RELABELLED("a=boo",
                      "- {source_labels: [a], regex: '.*o.*', action: drop}",
                      "dropped");
    EXPECT_RELABELLED("a=abc",
                      "- {source_labels: [a], regex: '.*(b).*', action: drop}\n"
                      "- {source_labels: [a], target_label: d}",
                      "dropped");
    EXPECT_RELABELLED("a=foo",
                      "- {source_labels: [a], regex: no, action: "
                      "keep}",
                      "dropped");
    /* nothing after the rule that drops is looked at */
    EXPECT_RELABELLED("a=foo",
                      "- {source_labels: [missing], regex: '', "
                      "action: keep}",
                      "a=foo");
}

TEST(keepequal_and_dropequal)
{
    const char *keep = "- {source_labels: [port], target_label: wanted, "
                       "action: keepequal}";
    const char *drop = "- {source_labels: [port], target_label: wanted, "
                       "action: dropequal}";

    EXPECT_RELABELLED("port=1 wanted=1", keep, "port=1 wanted=1");
    EXPECT_RELABELLED("port=1 wanted=2", keep, "dropped");
    EXPECT_RELABELLED("port=1 wanted=1", drop, "dropped");
    EXPECT_RELABELLED("port=1 wanted=2", drop, "port=1 wanted=2");
}

TEST(hashmod_as_in_prometheus)
{
    /* Prometheus' own tests have these. */
    EXPECT_RELABELLED("a=foo b=bar c=baz",
                      "- {source_labels: [c], target_label: d, action: "
                      "hashmod, modulus: 1000}",
                      "a=foo b=bar c=baz d=976");
    EXPECT_RELABELLED("a=foo\nbar b=bar c=baz",
                      "- {source_labels: [a], target_label: d, action: "
                      "hashmod, modulus: 1000}",
                      "a=foo\nbar b=bar c=baz d=734");
}

TEST(labelmap)
{
    EXPECT_RELABELLED("a=foo b1=bar b2=baz",
                      "- {regex: '(b.*)', replacement: 'bar_${1}', action: "
                      "labelmap}",
                      "a=foo b1=bar b2=baz bar_b1=bar bar_b2=baz");
    EXPECT_RELABELLED("__meta_my_bar=aaa __meta_my_baz=bbb a=foo",
                      "- {regex: '__meta_(my.*)', action: labelmap}",
                      "__meta_my_bar=aaa __meta_my_baz=bbb a=foo my_bar=aaa "
                      "my_baz=bbb");
}

TEST(labeldrop_and_labelkeep)
{
    EXPECT_RELABELLED("a=foo b1=bar b2=baz",
                      "- {regex: '(b.*)', action: labeldrop}", "a=foo");
    EXPECT_RELABELLED("a=foo b1=bar b2=baz",
                      "- {regex: '(b.*)', action: labelkeep}", "b1=bar b2=baz");
}

TEST(lowercase_and_uppercase)
{
    EXPECT_RELABELLED("foo=bAr123Foo",
                      "- {source_labels: [foo], action: lowercase, "
                      "target_label: low}\n"
                      "- {source_labels: [foo], action: uppercase, "
                      "target_label: up}",
                      "foo=bAr123Foo low=bar123foo up=BAR123FOO");
}

TEST(mistakes)
{
    EXPECT_RELABELLED("", "- {action: keeep}",
                      "rules:1:12: [0].action must be replace, keep, drop, "
                      "keepequal, dropequal, hashmod, labelmap, labeldrop, "
                      "labelkeep, lowercase or uppercase: did you mean keep?");
    EXPECT_RELABELLED("", "- {source_label: [a]}",
                      "rules:1:4: [0].source_label is not a known key: did "
                      "you mean source_labels?");
    EXPECT_RELABELLED("", "- {source_labels: [a]}",
                      "rules:1:3: [0] needs target_label for the action "
                      "replace");
    EXPECT_RELABELLED("", "- {regex: '(', action: keep}",
                      "rules:1:11: [0].regex is wrong: error parsing regexp: "
                      "missing closing ): `(?s:()`");
    EXPECT_RELABELLED("", "- {target_label: x, action: hashmod}",
                      "rules:1:3: [0] needs a modulus above 0 for hashmod");
    EXPECT_RELABELLED("", "- {target_label: x, action: labeldrop}",
                      "rules:1:3: [0] must have no other key than regex for "
                      "the action labeldrop");
    EXPECT_RELABELLED("", "- {target_label: 'a-b', action: lowercase}",
                      "rules:1:18: [0].target_label must be a label name: "
                      "letters, digits and _");
}

TEST(rules_that_double_a_value_end)
{
    char yaml[4096] = "";

    for (int i = 0; i < 20; i++)
        strncat(yaml,
                "- {source_labels: [a], target_label: a, replacement: "
                "'$1$1'}\n",
                sizeof(yaml) - strlen(yaml) - 1);
    EXPECT_RELABELLED("a=xxxx", yaml,
                      "relabelling makes the label a longer than 16384 bytes");
}

TEST(rules_that_double_the_labels_end)
{
    char yaml[4096] = "";

    for (int i = 0; i < 12; i++)
        snprintf(yaml + strlen(yaml), sizeof(yaml) - strlen(yaml),
                 "- {regex: '(.*)', replacement: '${1}_%d', action: "
                 "labelmap}\n",
                 i);
    EXPECT_RELABELLED("a=1", yaml, "relabelling makes more than 512 labels");
}

static const char *md5_of(const char *text)
{
    static char hex[33];
    uint8_t sum[16];

    md5(str_from(text), sum);
    number_put_bytes(hex, sum, sizeof(sum));
    return hex;
}

TEST(md5_of_the_rfc)
{
    EXPECT_STR(str_from(md5_of("")), "d41d8cd98f00b204e9800998ecf8427e");
    EXPECT_STR(str_from(md5_of("abc")), "900150983cd24fb0d6963f7d28e17f72");
    EXPECT_STR(str_from(md5_of("1234567890123456789012345678901234567890123456"
                               "7890123456789012345678901234567890")),
               "57edf4a22be3c955ac49da2e2107b67a");
    EXPECT_STR(str_from(md5_of("12345678901234567890123456789012345678901234567"
                               "89012345")),
               "c9ccf168914a1bcfc3229f1948e67da0");
}

TEST_MAIN
