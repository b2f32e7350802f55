/*
 * What each option is for.  A text that ends in LF is followed by an empty
 * line in the shell, one that does not is not: users' eyes and scripts know
 * both from the original.
 */
#include "report/config.h"

#define NAMES "Matching includes the function name, filename or object name.\n"
#define TAG_FILTER                                                             \
    "Use name=value syntax to limit the matching to a specific tag.\n"         \
    "Numeric tag filter examples: 1kb, 1kb:10kb, memory=32mb:\n"               \
    "String tag filter examples: foo, foo.*bar, mytag=foo.*bar\n"

static const struct {
    struct str name, text;
} helps[] = {
    {STR_INIT("output"), STR_INIT("Output filename for file-based outputs\n")},
    {STR_INIT("call_tree"),
     STR_INIT("Create a context-sensitive call tree\n"
              "Treat locations reached through different paths as "
              "separate.\n")},
    {STR_INIT("relative_percentages"),
     STR_INIT("Show percentages relative to focused subgraph\n"
              "If unset, percentages are relative to full graph before "
              "focusing\n"
              "to facilitate comparison with original graph.\n")},
    {STR_INIT("unit"),
     STR_INIT("Measurement units to display\n"
              "Scale the sample values to this unit.\n"
              "For time-based profiles, use seconds, milliseconds, "
              "nanoseconds, etc.\n"
              "For memory profiles, use megabytes, kilobytes, bytes, etc.\n"
              "Using auto will scale each value independently to the most "
              "natural unit.\n")},
    {STR_INIT("compact_labels"), STR_INIT("Show minimal headers")},
    {STR_INIT("source_path"), STR_INIT("Search path for source files")},
    {STR_INIT("trim_path"),
     STR_INIT("Path to trim from source paths before search")},
    {STR_INIT("intel_syntax"),
     STR_INIT("Show assembly in Intel syntax\n"
              "Only applicable to commands `disasm` and `weblist`\n")},
    {STR_INIT("mean"),
     STR_INIT("Average sample value over first value (count)\n"
              "For memory profiles, report average memory per allocation.\n"
              "For time-based profiles, report average time per event.\n")},
    {STR_INIT("sample_index"),
     STR_INIT("Sample value to report (0-based index or name)\n"
              "Profiles contain multiple values per sample.\n"
              "Use sample_index=i to select the ith value (starting at "
              "0).\n")},
    {STR_INIT("divide_by"),
     STR_INIT("Ratio to divide all samples before visualization\n"
              "Divide all samples values by a constant, eg the number of "
              "processors or jobs.\n")},
    {STR_INIT("normalize"),
     STR_INIT("Scales profile based on the base profile.\n")},
    {STR_INIT("tagroot"),
     STR_INIT("Adds pseudo stack frames for labels key/value pairs at the "
              "callstack root.\n"
              "A comma-separated list of label keys.\n"
              "The first key creates frames at the new root.\n")},
    {STR_INIT("tagleaf"),
     STR_INIT("Adds pseudo stack frames for labels key/value pairs at the "
              "callstack leaf.\n"
              "A comma-separated list of label keys.\n"
              "The last key creates frames at the new leaf.\n")},
    {STR_INIT("drop_negative"),
     STR_INIT("Ignore negative differences\n"
              "Do not show any locations with values <0.\n")},
    {STR_INIT("nodecount"),
     STR_INIT("Max number of nodes to show\n"
              "Uses heuristics to limit the number of locations to be "
              "displayed.\n"
              "On graphs, dotted edges represent paths through nodes that "
              "have been removed.\n")},
    {STR_INIT("nodefraction"), STR_INIT("Hide nodes below <f>*total")},
    {STR_INIT("edgefraction"), STR_INIT("Hide edges below <f>*total")},
    {STR_INIT("trim"),
     STR_INIT("Honor nodefraction/edgefraction/nodecount defaults\n"
              "Set to false to get the full profile, without any "
              "trimming.\n")},
    {STR_INIT("focus"),
     STR_INIT("Restricts to samples going through a node matching regexp\n"
              "Discard samples that do not include a node matching this "
              "regexp.\n" NAMES)},
    {STR_INIT("ignore"),
     STR_INIT("Skips paths going through any nodes matching regexp\n"
              "If set, discard samples that include a node matching this "
              "regexp.\n" NAMES)},
    {STR_INIT("prune_from"),
     STR_INIT("Drops any functions below the matched frame.\n"
              "If set, any frames matching the specified regexp and any "
              "frames\n"
              "below it will be dropped from each sample.\n")},
    {STR_INIT("hide"),
     STR_INIT("Skips nodes matching regexp\n"
              "Discard nodes that match this location.\n"
              "Other nodes from samples that include this location will be "
              "shown.\n" NAMES)},
    {STR_INIT("show"),
     STR_INIT("Only show nodes matching regexp\n"
              "If set, only show nodes that match this location.\n" NAMES)},
    {STR_INIT("show_from"),
     STR_INIT("Drops functions above the highest matched frame.\n"
              "If set, all frames above the highest match are dropped from "
              "every sample.\n" NAMES)},
    {STR_INIT("tagfocus"),
     STR_INIT("Restricts to samples with tags in range or matched by "
              "regexp\n" TAG_FILTER)},
    {STR_INIT("tagignore"),
     STR_INIT("Discard samples with tags in range or matched by "
              "regexp\n" TAG_FILTER)},
    {STR_INIT("tagshow"),
     STR_INIT("Only consider tags matching this regexp\n"
              "Discard tags that do not match this regexp\n")},
    {STR_INIT("taghide"), STR_INIT("Skip tags matching this regexp\n"
                                   "Discard tags that match this regexp\n")},
    {STR_INIT("noinlines"),
     STR_INIT("Ignore inlines.\n"
              "Attributes inlined functions to their first out-of-line "
              "caller.\n")},
    {STR_INIT("showcolumns"),
     STR_INIT("Show column numbers at the source code line level.\n")},
    {STR_INIT("functions"),
     STR_INIT("Aggregate at the function level.\n"
              "Ignores the filename where the function was defined.\n")},
    {STR_INIT("filefunctions"),
     STR_INIT("Aggregate at the function level.\n"
              "Takes into account the filename where the function was "
              "defined.\n")},
    {STR_INIT("files"), STR_INIT("Aggregate at the file level.")},
    {STR_INIT("lines"), STR_INIT("Aggregate at the source code line level.")},
    {STR_INIT("addresses"),
     STR_INIT("Aggregate at the address level.\n"
              "Includes functions' addresses in the output.\n")},
    {STR_INIT("flat"), STR_INIT("Sort entries based on own weight\n")},
    {STR_INIT("cum"), STR_INIT("Sort entries based on cumulative weight\n")},
};

struct str config_help(struct str name)
{
    for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++)
        if (str_eq(name, helps[i].name))
            return helps[i].text;
    return STR("");
}
