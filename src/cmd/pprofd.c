/*
 * pprofd: collects profiles.  The commands are in cmd/pprofd/.
 *
 * A command line that begins with a flag is `serve`: that is how profefe is
 * started, and its manifests work unchanged.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/pprofd/config_command.h"
#include "cmd/pprofd/query_command.h"
#include "cmd/pprofd/scrape_command.h"
#include "cmd/pprofd/serve.h"
#include "cmd/pprofd/store_commands.h"

static const char usage[] =
    "usage: pprofd [COMMAND] [FLAGS]\n"
    "Collects and stores the profiles of many programs, and answers queries.\n"
    "\n"
    "  serve      collect and serve profiles (the default)\n"
    "  scrape     fetch the profiles of all targets once, for cron\n"
    "  query      answer a query from a store, without a server\n"
    "  config     print all settings with their values\n"
    "  check      verify a store and report what is wrong with it\n"
    "  stats      show what uses the space of a store\n"
    "  export     write the profiles of a store to a directory\n"
    "  import     read profiles from an exported directory or a collector\n"
    "  schema     print the SQL that creates the tables of a store on "
    "ClickHouse\n"
    "  version    print the version\n"
    "\n"
    "Flags of serve:\n"
    "  --addr ADDRESS      listen on host:port or unix:/path; default\n"
    "                      127.0.0.1:10100\n"
    "  --data DIR          store profiles in this directory; default\n"
    "                      ~/.local/share/pprofd, /var/lib/pprofd for root\n"
    "  --store URL         store profiles in ClickHouse: docs/clickhouse.md\n"
    "  --config FILE       read settings from this file; see pprofd config\n"
    "  --retention AGE     keep single profiles this long; default 7d\n"
    "  --max-disk SIZE     delete the oldest day when the store is larger\n"
    "  --max-body SIZE     refuse larger profiles; default 16MB\n"
    "  --archive s3://BUCKET/PREFIX   also keep every profile in a bucket\n"
    "  --tls-cert FILE --tls-key FILE   serve HTTPS\n"
    "  --client-ca FILE --client-allow NAMES   admit clients with "
    "certificates\n"
    "  --token-file FILE   admit clients with tokens\n"
    "  --kubernetes        admit clients whom the cluster authorizes\n"
    "  --insecure          admit all clients that can reach the address\n"
    "  --log.level LEVEL   debug, info, warn or error\n"
    "\n"
    "`pprofd COMMAND -h` describes the flags of another command.\n"
    "docs/collector.md is the guide, docs/scraping.md describes scraping,\n"
    "docs/collector-api.md describes the API.\n";

#define S3_HELP                                                                \
    "\n"                                                                       \
    "Buckets need AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the\n"        \
    "environment, and AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL and\n"   \
    "AWS_CA_BUNDLE if they apply.\n"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help; /* NULL: the usage above */
} commands[] = {
    {"serve", serve_command, NULL},
    {"scrape", scrape_command,
     "usage: pprofd scrape [FLAGS]\n"
     "Fetches the profiles of all targets once, for cron.\n"
     "  --config FILE     the targets: scrape_configs; docs/scraping.md\n"
     "  -o DIR            write profiles to this directory\n"
     "  --collector URL   post them there; default http://localhost:10100\n"
     "  --token-file FILE --tls-ca FILE --tls-cert FILE --tls-key FILE\n"
     "                    credentials for the collector\n"
     "Without --config, pods are discovered with the flags of kprofefe.\n"
     "Exits with 1 if a profile could not be fetched; stderr says which.\n"},
    {"query", query_command,
     "usage: pprofd query [--data DIR] WHAT [SELECTOR] [FLAGS]\n"
     "Answers a query from a store, as the API of a server does.  WHAT is\n"
     "  services                 services and their profile types\n"
     "  labels [--name LABEL]    names of labels, or the values of one\n"
     "  profiles [--limit N]     single profiles, the newest first\n"
     "  series [--step TIME] [--by LABEL]   totals over time\n"
     "  function --name NAME     one function over time\n"
     "  top [--n N] [--focus REGEXP ...]    the most expensive functions\n"
     "  merge                    the sum of all profiles, as a profile\n"
     "  diff [--base_from TIME --base_to TIME]   a difference, as a profile\n"
     "\n"
     "SELECTOR is like 'cpu{service=\"api\"}'; the default is all profiles.\n"
     "  --from TIME, --to TIME   now-1h, 2026-01-31T08:00:00Z; default: the\n"
     "                           last hour, for services and labels all times\n"
     "  --json                   print JSON instead of a table\n"
     "  -o FILE                  write to a file\n"
     "Further flags are the parameters of docs/collector-api.md.  Stop the\n"
     "server first, or ask it over HTTP.\n"},
    {"config", config_command,
     "usage: pprofd config [--config FILE] [FLAGS of serve]\n"
     "Prints all settings with their values, as a file for --config.\n"},
    {"check", check_command,
     "usage: pprofd check [--data DIR]\n"
     "Reads a whole store and reports what is wrong with it, and what to do.\n"
     "Exits with 1 if it finds a problem.\n"},
    {"stats", stats_command,
     "usage: pprofd stats [--data DIR]\n"
     "Shows what uses the space of a store: services, types, stacks and\n"
     "names.  Stop the server first.\n"},
    {"schema", schema_command,
     "usage: pprofd schema [--plain] [--store URL] [--cluster NAME]\n"
     "Prints the statements that create the tables of a store on ClickHouse,\n"
     "for databases where pprofd may not create them itself.  --plain is for\n"
     "servers before 20.3.\n"},
    {"export", export_command,
     "usage: pprofd export [--data DIR] TO-DIRECTORY\n"
     "       pprofd export [--data DIR] [--s3-endpoint URL] "
     "s3://BUCKET/PREFIX\n"
     "Writes every profile of a store to a file or an object of a bucket, for\n"
     "pprof and for `pprofd import`.  Stop the server first.\n" S3_HELP},
    {"import", import_command,
     "usage: pprofd import [--data DIR] EXPORTED-DIRECTORY|http://COLLECTOR "
     "...\n"
     "       pprofd import [--data DIR] [--s3-endpoint URL] "
     "s3://BUCKET/PREFIX ...\n"
     "Reads profiles from directories and buckets that `pprofd export` or the\n"
     "archive of a server has written, from buckets of profefe, and from\n"
     "running collectors: pprofd or profefe.  Profiles that are already "
     "stored\n"
     "are not stored twice.  Stop the server of --data first.\n" S3_HELP},
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int show_help(const char *command)
{
    const char *text = usage;

    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(command, commands[i].name) == 0 && commands[i].help)
            text = commands[i].help;
    fputs(text, stdout);
    return 0;
}

static int show_version(void)
{
    printf("pprofd %s\n", PPROF_VERSION);
    return 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static const char *const help[] = {"help", "-h", "--help", "-help", NULL};
    static const char *const version[] = {"version", "-version", "--version",
                                          NULL};

    for (int i = 1; i < argc; i++)
        if (is_one_of(argv[i], i == 1 ? help : help + 1))
            return show_help(argv[1]);
    if (argc < 2 || (argv[1][0] == '-' && !is_one_of(argv[1], version)))
        return serve_command(argc - 1, argv + 1);
    if (is_one_of(argv[1], version))
        return show_version();
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    fprintf(stderr, "pprofd: no command \"%s\"; see pprofd -h\n", argv[1]);
    return 2;
}
