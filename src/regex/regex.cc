// RE2 behind regex.h.  RE2 and Go's regexp are siblings: same syntax, same
// semantics.  What differs is repaired here:
//
// - the words of errors (see reason());
// - bytes that are not UTF-8: Go reads each of them as U+FFFD, RE2 lets
//   nothing match them, so such a text is rewritten before the search;
// - (?<name>…), which this RE2 spells (?P<name>…), and \C, which Go refuses.

extern "C" {
#include "regex/regex.h"
}

#include <re2/re2.h>

#include <string>
#include <vector>

extern "C" {
#include "base/utf8.h"
}

// Bounds the program and the cache of a search.  A pattern that needs more
// is refused as too large.
static const int64_t MAX_MEMORY = 64 << 20;

struct regex {
    regex(const std::string &given, const std::string &spelt,
          const RE2::Options &options)
        : pattern(given), re(spelt, options)
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

// The pattern as this RE2 spells it; sets *refused if it holds \C.
static std::string respell(const std::string &s, bool *refused)
{
    std::string out;

    for (size_t i = 0; i < s.size();) {
        size_t next = i + 1;
        if (s[i] == '\\') {
            *refused = *refused || s.compare(i, 2, "\\C") == 0;
            next = skip_escape(s, i);
        } else if (s[i] == '[') {
            next = skip_class(s, i);
        } else if (s.compare(i, 3, "(?<") == 0) {
            out += "(?P<";
            i += 3;
            continue;
        }
        out += s.substr(i, next - i);
        i = next;
    }
    return out;
}

// Which part of the pattern is to blame, in Go's view.
static std::string fragment(const struct regex *re)
{
    std::string part = re->re.error_arg();

    if (re->re.error_code() == RE2::ErrorBadUTF8)
        return re->pattern.substr(first_invalid(regex_pattern(re)));
    size_t p = part.find("(?P<");
    if (p != std::string::npos && re->pattern.find(part) == std::string::npos)
        part.erase(p + 2, 1);
    return part;
}

struct regex *regex_new(struct str pattern, struct error *err)
{
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(MAX_MEMORY);

    std::string given(pattern.n ? pattern.s : "", pattern.n);
    bool refused = false;
    struct regex *re = new regex(given, respell(given, &refused), options);
    if (re->re.ok() && !refused)
        return re;
    if (re->re.ok())
        error_set(err, "error parsing regexp: invalid escape sequence: `\\C`");
    else
        error_set(err, "error parsing regexp: %s: `%s`",
                  reason(re->re.error_code()), fragment(re).c_str());
    delete re;
    return nullptr;
}

void regex_free(struct regex *re)
{
    delete re;
}

// The text with every stray byte as U+FFFD; from[i] is where byte i of it
// came from.
static std::string utf8_repair(struct str text, std::vector<size_t> *from)
{
    std::string out;

    for (size_t i = 0; i < text.n;) {
        size_t n = utf8_sequence(str_skip(text, i));
        std::string bytes = n ? std::string(text.s + i, n) : "\xef\xbf\xbd";
        out += bytes;
        from->insert(from->end(), bytes.size(), i);
        i += n ? n : 1;
    }
    from->push_back(text.n);
    return out;
}

static bool search(const struct regex *re, re2::StringPiece text,
                   re2::StringPiece *groups, int n)
{
    return re->re.Match(text, 0, text.size(), RE2::UNANCHORED, groups, n);
}

bool regex_matches(const struct regex *re, struct str text)
{
    if (utf8_valid(text))
        return search(re, re2::StringPiece(text.s, text.n), nullptr, 0);
    std::vector<size_t> from;
    return search(re, utf8_repair(text, &from), nullptr, 0);
}

bool regex_find(const struct regex *re, struct str text, struct str *groups,
                int n)
{
    std::vector<re2::StringPiece> found(static_cast<size_t>(n));
    std::vector<size_t> from;
    std::string repaired;
    re2::StringPiece subject(text.s ? text.s : "", text.n);
    bool valid = utf8_valid(text);

    if (!valid) {
        repaired = utf8_repair(text, &from);
        subject = repaired;
    }
    if (!search(re, subject, found.data(), n))
        return false;
    for (int i = 0; i < n; i++) {
        const re2::StringPiece &g = found[static_cast<size_t>(i)];
        if (!g.data()) {
            groups[i] = str_of(nullptr, 0);
            continue;
        }
        size_t start = static_cast<size_t>(g.data() - subject.data());
        size_t end = start + g.size();
        if (!valid) {
            start = from[start];
            end = from[end];
        }
        groups[i] = str_of((text.s ? text.s : "") + start, end - start);
    }
    return true;
}

struct str regex_pattern(const struct regex *re)
{
    return str_of(re->pattern.data(), re->pattern.size());
}
