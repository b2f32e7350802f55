/*
 * Done by hand and without setenv: shells bring their own setenv and
 * unsetenv, which do something else, and exec must not call malloc.
 */
#include "runtime/hook/exec_environment.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/pages.h"
#include "base/str.h"

#define MAX_KEPT  64
#define ROOM      (16u << 10) /* for the texts that we keep */
#define PRELOAD   "LD_PRELOAD="
#define LIBRARY   "libpprof-preload.so"
#define EXECS_MAX 32

static struct {
    const char *entries[MAX_KEPT]; /* PPROF_NAME=VALUE */
    size_t n;
    const char *library; /* our entry of LD_PRELOAD, NULL: none */
    char texts[ROOM];
    size_t used;
} kept;

static const char *keep_text(struct str text)
{
    char *to = kept.texts + kept.used;

    if (text.n >= ROOM - kept.used)
        return NULL;
    memcpy(to, text.s, text.n);
    to[text.n] = '\0';
    kept.used += text.n + 1;
    return to;
}

static bool is_preload(const char *entry)
{
    return strncmp(entry, PRELOAD, strlen(PRELOAD)) == 0;
}

static bool is_setting(const char *entry)
{
    return strncmp(entry, "PPROF_", 6) == 0;
}

/* The next library of a list, whose separators are colons and spaces. */
static bool next_library(const char **list, struct str *out)
{
    size_t n;

    *list += strspn(*list, ": ");
    n = strcspn(*list, ": ");
    *out = str_of(*list, n);
    *list += n;
    return n > 0;
}

static bool is_our_library(struct str path)
{
    return str_contains(path, STR(LIBRARY));
}

static void keep_library(const char *list)
{
    struct str path;

    while (next_library(&list, &path))
        if (is_our_library(path))
            kept.library = keep_text(path);
}

/* "LD_PRELOAD=…" without our library, in place: it only gets shorter.  False
 * when nothing else is in it. */
static bool shorten_preload(char *entry)
{
    const char *from = entry + strlen(PRELOAD);
    char *start = entry + strlen(PRELOAD), *to = start;
    struct str path;

    while (next_library(&from, &path)) {
        if (is_our_library(path))
            continue;
        if (to != start)
            *to++ = ':';
        memmove(to, path.s, path.n);
        to += path.n;
    }
    *to = '\0';
    return to != start;
}

static void keep_entry(const char *entry)
{
    const char *copy;

    if (is_preload(entry))
        keep_library(entry + strlen(PRELOAD));
    if (!is_setting(entry) || kept.n == MAX_KEPT ||
        strncmp(entry, "PPROF_EXECS=", 12) == 0)
        return;
    copy = keep_text(str_from(entry));
    if (copy)
        kept.entries[kept.n++] = copy;
}

void exec_environment_keep(bool hide)
{
    extern char **environ;
    char **to = environ;

    for (char **e = environ; e && *e; e++) {
        keep_entry(*e);
        if (!hide || (is_preload(*e) ? shorten_preload(*e) : !is_setting(*e)))
            *to++ = *e;
    }
    if (to)
        *to = NULL;
}

/* Returns true if the variable of "NAME=VALUE" is in the environment. */
static bool is_set(char *const *envp, const char *entry)
{
    size_t n = strcspn(entry, "=") + 1;

    for (; envp && *envp; envp++)
        if (strncmp(*envp, entry, n) == 0)
            return true;
    return false;
}

static const char *find_preload(char *const *envp)
{
    for (; envp && *envp; envp++)
        if (is_preload(*envp))
            return *envp + strlen(PRELOAD);
    return NULL;
}

/* The array is followed by the texts that are new; both are in one block,
 * which begins with its size. */
struct made {
    size_t bytes;
    char *entries[];
};

static size_t count(char *const *envp)
{
    size_t n = 0;

    while (envp && envp[n])
        n++;
    return n;
}

char **exec_environment_make(char *const *envp, unsigned execs)
{
    const char *others = find_preload(envp);
    size_t slots = count(envp) + kept.n + 3, at = 0, room;
    bool ours = kept.library && !(others && strstr(others, LIBRARY));
    struct made *m;
    char *text;

    room = strlen(PRELOAD) + (ours ? strlen(kept.library) : 0) +
           (others ? strlen(others) : 0) + 2;
    size_t bytes = sizeof(*m) + slots * sizeof(char *) + room + EXECS_MAX;
    m = pages_alloc(bytes);
    if (!m)
        return NULL;
    m->bytes = bytes;
    text = (char *)&m->entries[slots];
    for (; envp && *envp; envp++)
        if (!(ours && is_preload(*envp)) &&
            strncmp(*envp, "PPROF_EXECS=", 12) != 0)
            m->entries[at++] = *envp;
    for (size_t i = 0; i < kept.n; i++)
        if (!is_set(m->entries, kept.entries[i]))
            m->entries[at++] = (char *)kept.entries[i];
    if (ours) {
        snprintf(text, room, PRELOAD "%s%s%s", kept.library,
                 others && *others ? ":" : "", others ? others : "");
        m->entries[at++] = text;
    }
    snprintf(text + room, EXECS_MAX, "PPROF_EXECS=%u", execs);
    m->entries[at] = text + room;
    return m->entries;
}

void exec_environment_release(char **made)
{
    struct made *m;

    if (!made)
        return;
    m = (struct made *)((char *)made - offsetof(struct made, entries));
    pages_free(m, m->bytes);
}
