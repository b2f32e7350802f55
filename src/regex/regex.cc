// RE2 behind regex.h.  RE2 and Go's regexp are siblings: same syntax, same
// semantics.  What differs is repaired here:
//
// - the words of errors (see reason());
// - bytes that are not UTF-8: Go reads each of them as U+FFFD, RE2 lets
//   nothing match them, so such a text is rewritten before the search;
// - (?<name>…), which this RE2 spells (?P<name>…), and \C, which Go refuses.
//
// Compared with Go's regexp on 200,000 random patterns, see test_regex.c for
// one of each kind.

extern "C" {
#include "regex/regex.h"
}

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <vector>

extern "C" {
#include "base/memory_scope.h"
#include "base/utf8.h"
}

// Bounds the program and the cache of a search.  A pattern that needs more
// is refused as too large.
static const int64_t MAX_MEMORY = 64 << 20;

// Groups in groups: Go's limit.
static const size_t MAX_DEPTH = 1000;

struct regex : scope_resource {
    regex(const std::string &given, const std::string &spelt,
          const RE2::Options &options)
        : scope_resource(), pattern(given), re(spelt, options)
    {
    }

    std::string pattern;
    RE2 re;
};

// Where the first byte is that belongs to no UTF-8 sequence; text.n if none.
static size_t first_invalid(struct str text)
{
    size_t i = 0, n;

    while (i < text.n && (n = utf8_sequence(str_skip(text, i))) != 0)
        i += n;
    return i;
}

static bool utf8_valid(struct str text)
{
    return first_invalid(text) == text.n;
}

static const char *reason(RE2::ErrorCode code)
{
    switch (code) {
    case RE2::ErrorBadEscape:
        return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
        return "invalid character class";
    case RE2::ErrorBadCharRange:
        return "invalid character class range";
    case RE2::ErrorMissingBracket:
        return "missing closing ]";
    case RE2::ErrorMissingParen:
        return "missing closing )";
    case RE2::ErrorUnexpectedParen:
        return "unexpected )";
    case RE2::ErrorTrailingBackslash:
        return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
        return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
        return "invalid repeat count";
    case RE2::ErrorRepeatOp:
        return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
        return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
        return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
        return "invalid named capture";
    default:
        return "expression too large";
    }
}

// Steps over an escape at s[i], which is a backslash: \Q…\E as a whole.
static size_t skip_escape(const std::string &s, size_t i)
{
    if (s.compare(i, 2, "\\Q") != 0)
        return i + 2;
    size_t end = s.find("\\E", i + 2);
    return end == std::string::npos ? s.size() : end + 2;
}

// Steps over a class that starts at s[i], or to the end of the pattern.
static size_t skip_class(const std::string &s, size_t i)
{
    i++;
    if (i < s.size() && s[i] == '^')
        i++;
    if (i < s.size() && s[i] == ']')
        i++;
    while (i < s.size() && s[i] != ']') {
        size_t end;
        if (s.compare(i, 2, "[:") == 0 &&
            (end = s.find(":]", i + 2)) != std::string::npos)
            i = end + 2;
        else
            i += s[i] == '\\' ? 2 : 1;
    }
    return i + 1;
}

// A pattern in this RE2's spelling; from[i] is where byte i of it came from.
struct spelling {
    std::string text;
    std::vector<size_t> from;
    size_t depth = 0, deepest = 0; // of groups

    void add(const std::string &bytes, size_t at, size_t step)
    {
        for (size_t i = 0; i < bytes.size(); i++)
            from.push_back(at + i * step);
        text += bytes;
    }
};

// (?<name> becomes (?P<name>.  \C, which RE2 knows and Go does not, becomes
// an escape that neither knows.
static struct spelling respell(const std::string &s)
{
    struct spelling out;

    for (size_t i = 0; i < s.size();) {
        size_t next = i + 1;
        if (s.compare(i, 2, "\\C") == 0) {
            next = i + 2;
            out.add("\\y", i, 1);
        } else if (s.compare(i, 3, "(?<") == 0) {
            next = i + 3;
            out.add("(?", i, 1);
            out.add("P<", i + 2, 0);
        } else {
            if (s[i] == '\\')
                next = skip_escape(s, i);
            else if (s[i] == '[')
                next = skip_class(s, i);
            else if (s[i] == '(')
                out.deepest = std::max(out.deepest, ++out.depth);
            else if (s[i] == ')' && out.depth)
                out.depth--;
            next = std::min(next, s.size());
            out.add(s.substr(i, next - i), i, 1);
        }
        i = next;
    }
    out.from.push_back(s.size());
    return out;
}

// What Go has to say about a pattern.
struct complaint {
    const char *words;
    std::string fragment; // of the pattern: what is to blame
};

// "{2,1}" or "{1001}": numbers that no repetition may have.
static bool is_bad_count(const std::string &s)
{
    static const RE2 count("^\\{(\\d+)(?:,(\\d*))?\\}$");
    std::string low, high;

    if (!RE2::FullMatch(s, count, &low, &high))
        return false;
    auto value = [](const std::string &digits) {
        return digits.size() > 4 ? 9999 : std::stoi(digits);
    };
    return value(low) > 1000 ||
           (!high.empty() && (value(high) > 1000 || value(high) < value(low)));
}

// The two parsers agree on what is wrong, but for some corners in which they
// look at things in another order.
static struct complaint complain(const std::string &pattern,
                                 const struct spelling &spelt, const RE2 &re)
{
    RE2::ErrorCode code = re.error_code();
    std::string part = re.error_arg();
    size_t brace = part.rfind('{'), at = spelt.text.find(part);

    if (code == RE2::ErrorBadUTF8) {
        size_t bad = first_invalid(str_of(pattern.data(), pattern.size()));
        if (bad < pattern.size())
            return {reason(code), pattern.substr(bad)};
        return {
            reason(RE2::ErrorBadEscape),
            pattern.substr(std::min(pattern.rfind("\\x{"), pattern.size()))};
    }
    if (code == RE2::ErrorBadEscape && (part == "\\p" || part == "\\P") &&
        at + part.size() == spelt.text.size())
        code = RE2::ErrorBadCharRange;
    if ((code == RE2::ErrorRepeatOp || code == RE2::ErrorRepeatSize) &&
        brace != std::string::npos) {
        std::string count = part.substr(brace);
        if (count.back() == '?')
            count.pop_back();
        if (is_bad_count(count))
            return {reason(RE2::ErrorRepeatSize), count};
    }
    if (at != std::string::npos) {
        size_t start = spelt.from[at], end = spelt.from[at + part.size()];
        part = pattern.substr(start, end - start);
    }
    return {reason(code), part};
}

static void release(struct scope_resource *r)
{
    regex_free(static_cast<struct regex *>(r));
}

struct regex *regex_new(struct str pattern, struct error *err)
{
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(MAX_MEMORY);

    std::string given(pattern.n ? pattern.s : "", pattern.n);
    struct spelling spelt = respell(given);
    struct regex *re = new regex(given, spelt.text, options);
    bool too_deep = spelt.deepest >= MAX_DEPTH;
    if (re->re.ok() && !too_deep) {
        memory_scope_adopt(re, release);
        return re;
    }
    struct complaint c = {"expression nests too deeply", given};
    if (!re->re.ok())
        c = complain(given, spelt, re->re);
    error_set(err, "error parsing regexp: %s: `%s`", c.words,
              c.fragment.c_str());
    delete re;
    return nullptr;
}

void regex_free(struct regex *re)
{
    if (re)
        memory_scope_disown(re);
    delete re;
}

// The text with every stray byte as U+FFFD.
static std::string utf8_repair(struct str text)
{
    std::string out;

    for (size_t i = 0; i < text.n;) {
        size_t n = utf8_sequence(str_skip(text, i));
        out += n ? std::string(text.s + i, n) : "\xef\xbf\xbd";
        i += n ? n : 1;
    }
    return out;
}

static bool search(const struct regex *re, re2::StringPiece text)
{
    return re->re.Match(text, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

bool regex_matches(const struct regex *re, struct str text)
{
    if (utf8_valid(text))
        return search(re, re2::StringPiece(text.s, text.n));
    return search(re, utf8_repair(text));
}

size_t regex_group_count(const struct regex *re)
{
    return static_cast<size_t>(re->re.NumberOfCapturingGroups());
}

size_t regex_group_named(const struct regex *re, struct str name)
{
    const auto &names = re->re.NamedCapturingGroups();
    auto found = names.find(std::string(name.n ? name.s : "", name.n));

    return found == names.end() ? 0 : static_cast<size_t>(found->second);
}

bool regex_match_whole(const struct regex *re, struct str text,
                       struct str *groups, size_t n)
{
    size_t known = std::min(n, regex_group_count(re) + 1);
    std::vector<re2::StringPiece> found(known);
    re2::StringPiece piece(text.n ? text.s : "", text.n);

    if (!utf8_valid(text) ||
        !re->re.Match(piece, 0, piece.size(), RE2::ANCHOR_BOTH, found.data(),
                      static_cast<int>(known)))
        return false;
    for (size_t i = 0; i < n; i++)
        groups[i] = i < known ? str_of(found[i].data(), found[i].size())
                              : str_of("", 0);
    return true;
}

struct str regex_pattern(const struct regex *re)
{
    return str_of(re->pattern.data(), re->pattern.size());
}
