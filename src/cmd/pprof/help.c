/*
 * google/pprof prints its options from several tables with texts in between.
 * The texts are here.  Commands and options come from the same tables that
 * parse them, so that nothing can be missing from the help.
 */
#include "cmd/pprof/help.h"

#include <stdio.h>

#include "cmd/pprof/command.h"

static const char introduction[] =
    "usage:\n"
    "\n"
    "Produce output in the specified format.\n"
    "\n"
    "   pprof <format> [options] [binary] <source> ...\n"
    "\n"
    "Omit the format to get an interactive shell whose commands can be used\n"
    "to generate various views of a profile\n"
    "\n"
    "   pprof [options] [binary] <source> ...\n"
    "\n"
    "Omit the format and provide the \"-http\" flag to get an interactive web\n"
    "interface at the specified host:port that can be used to navigate "
    "through\n"
    "various views of a profile.\n"
    "\n"
    "   pprof -http [host]:[port] [options] [binary] <source> ...\n"
    "\n"
    "Details:\n";

static const char sources_and_rest[] =
    "  Source options:\n"
    "    -seconds              Duration for time-based profile collection\n"
    "    -timeout              Timeout in seconds for profile collection\n"
    "    -buildid              Override build id for main binary\n"
    "    -add_comment          Free-form annotation to add to the profile\n"
    "                          Displayed on some reports or with pprof "
    "-comments\n"
    "    -diff_base source     Source of base profile for comparison\n"
    "    -base source          Source of base profile for profile subtraction\n"
    "    profile.pb.gz         Profile in compressed protobuf format\n"
    "    legacy_profile        Profile in legacy pprof format\n"
    "    http://host/profile   URL for profile handler to retrieve\n"
    "    -symbolize=           Controls source of symbol information\n"
    "      none                  Do not attempt symbolization\n"
    "      local                 Examine only local binaries\n"
    "      fastlocal             Only get function names from local binaries\n"
    "      remote                Do not examine local binaries\n"
    "      force                 Force re-symbolization\n"
    "    Binary                  Local path or build id of binary for "
    "symbolization\n"
    "    -tls_cert             TLS client certificate file for "
    "fetching profile and symbols\n"
    "    -tls_key              TLS private key file for fetching "
    "profile and symbols\n"
    "    -tls_ca               TLS CA certs file for fetching profile "
    "and symbols\n"
    "\n"
    "  Misc options:\n"
    "   -http              Provide web interface at host:port.\n"
    "                      Host is optional and 'localhost' by default.\n"
    "                      Port is optional and a randomly available "
    "port by default.\n"
    "   -no_browser        Skip opening a browser for the interactive web UI.\n"
    "   -tools             Search path for object tools\n"
    "   -all_frames        Ignore drop_frames and keep_frames regexps "
    "in the profile\n"
    "                      Rarely needed, mainly used for debugging "
    "pprof itself\n"
    "\n"
    "  Legacy convenience options:\n"
    "   -inuse_space           Same as -sample_index=inuse_space\n"
    "   -inuse_objects         Same as -sample_index=inuse_objects\n"
    "   -alloc_space           Same as -sample_index=alloc_space\n"
    "   -alloc_objects         Same as -sample_index=alloc_objects\n"
    "   -total_delay           Same as -sample_index=delay\n"
    "   -contentions           Same as -sample_index=contentions\n"
    "   -mean_delay            Same as -mean -sample_index=delay\n"
    "\n"
    "  Environment Variables:\n"
    "   PPROF_TMPDIR       Location for saved profiles (default $HOME/pprof)\n"
    "   PPROF_TOOLS        Search path for object-level tools\n"
    "   PPROF_BINARY_PATH  Search path for local binary files\n"
    "                      default: $HOME/pprof/binaries\n"
    "                      searches $buildid/$name, $buildid/*, "
    "$path/$buildid,\n"
    "                      ${buildid:0:2}/${buildid:2}.debug, $name, $path,\n"
    "                      ${name}.debug, $dir/.debug/${name}.debug,\n"
    "                      usr/lib/debug/$dir/${name}.debug\n"
    "   * On Windows, %USERPROFILE% is used instead of $HOME\n";

/* What google/pprof does not have.  Its own text stays unchanged, because
scripts compare it. */
static const char ours[] =
    "\n"
    "  More source options:\n"
    "    -                     Profile from standard input\n"
    "    unix:///path.sock/... Profile handler behind a Unix socket\n"
    "    ssh://host/...        Profile handler on that host's loopback "
    "address\n"
    "    -header 'Name: value' Additional request header (may be repeated)\n"
    "    -token_file           File with a bearer token to send\n"
    "    -tls_server_name      Server name in the certificate, if it differs\n"
    "                          from the host name (port forwarding)\n"
    "    -no_save              Do not save a copy of a fetched profile\n"
    "\n"
    "  More misc options:\n"
    "   -http_cert, -http_key  PEM files: serve the page over TLS\n"
    "   -http_client_ca    Only accept browsers with a certificate signed by\n"
    "                      this CA\n"
    "   -fail_above=5%     Exit code 3 if the total or a function's cost grew\n"
    "                      by more than 5% of the base's total\n"
    "   -fail_above_share=5%\n"
    "                      Exit code 3 if a function's share of the total "
    "grew\n"
    "                      by more than 5 points\n"
    "   -help_all          Print this text and the options that google/pprof\n"
    "                      does not have\n"
    "   -version           Print the version\n";

static const char hint[] =
    "\n"
    "Run \"pprof -help_all\" to see the options that google/pprof does not "
    "have, too.\n";

const struct config_field **help_sorted_fields(struct arena *a)
{
    const struct config_field **fields =
        arena_new_array(a, const struct config_field *, config_n_fields);

    for (size_t n = 0; n < config_n_fields; n++) {
        const struct config_field *f = &config_fields[n];
        size_t i = n;

        for (; i > 0 && strcmp(fields[i - 1]->name, f->name) > 0; i--)
            fields[i] = fields[i - 1];
        fields[i] = f;
    }
    return fields;
}

/* One name with the first line of its help. */
static void add_line(struct buf *out, const char *indent, const char *prefix,
                     const char *name, struct str help)
{
    char word[64];
    struct str first = help;

    snprintf(word, sizeof(word), "%s%s", prefix, name);
    str_next_line(&help, &first);
    buf_addf(out, "%s%-16s %" STR_FMT "\n", indent, word, STR_ARG(first));
}

void help_add_commands(struct buf *out, const char *prefix, bool ours_only)
{
    for (size_t i = 0; i < n_commands; i++)
        if (commands[i].ours == ours_only)
            add_line(out, "    ", prefix, commands[i].name,
                     str_from(commands[i].description));
}

void help_add_options(struct buf *out, const char *prefix)
{
    struct arena *a = arena_new();
    const struct config_field **fields = help_sorted_fields(a);

    buf_add(out, STR("  Options:\n"));
    for (size_t i = 0; i < config_n_fields; i++)
        if (!fields[i]->choices)
            add_line(out, "    ", prefix, fields[i]->name,
                     config_help(str_from(fields[i]->name)));
    buf_add(out, STR("\n  Option groups (only set one per group):\n"));
    for (size_t i = 0; i < config_n_fields; i++) {
        const char *const *choice = fields[i]->choices;
        if (!choice)
            continue;
        add_line(out, "    ", "", fields[i]->name, STR(""));
        for (; *choice; choice++)
            add_line(out, "      ", prefix, *choice,
                     config_help(str_from(*choice)));
    }
    arena_free(a);
}

void help_add_usage(struct buf *out, bool all)
{
    buf_add(out, str_from(introduction));
    buf_add(out, STR("  Output formats (select at most one):\n"));
    help_add_commands(out, "-", false);
    if (all) {
        buf_add(out, STR("\n  More output formats:\n"));
        help_add_commands(out, "-", true);
    }
    buf_add_char(out, '\n');
    help_add_options(out, "-");
    buf_add_char(out, '\n');
    buf_add(out, str_from(sources_and_rest));
    if (all)
        buf_add(out, str_from(ours));
}

void help_add_hint(struct buf *out)
{
    buf_add(out, str_from(hint));
}
