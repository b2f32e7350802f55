#include "cmd/pprof/command.h"

#define GRAPH "Outputs a graph "
#define VIEW  "Visualize graph through "

/* name, format, graphviz, extension, viewer, argument, ours, usage, cum, file,
 * description, page */
const struct command commands[] = {
    {"callgrind", REPORT_CALLGRIND, NULL, "callgraph.out", NULL, false, false,
     USAGE_REPORT, false, true, GRAPH "in callgrind format"},
    {"comments", REPORT_COMMENTS, NULL, NULL, NULL, false, false, USAGE_NONE,
     false, false, "Output all profile comments"},
    {"disasm", REPORT_DISASM, NULL, NULL, NULL, true, false, USAGE_CODE, false,
     true, "Output assembly listings annotated with samples"},
    {"dot", REPORT_DOT, NULL, NULL, NULL, false, false, USAGE_REPORT, false,
     true, GRAPH "in DOT format"},
    {"eog", REPORT_DOT, "svg", "svg", "eog", false, false, USAGE_REPORT, false,
     false, VIEW "eog"},
    {"evince", REPORT_DOT, "pdf", "pdf", "evince", false, false, USAGE_REPORT,
     false, false, VIEW "evince"},
    {"explain", REPORT_EXPLAIN, NULL, NULL, NULL, false, true, USAGE_REPORT,
     false, true, "Outputs what a change made slower and faster, and where"},
    {"flame", REPORT_FLAME, NULL, NULL, NULL, false, true, USAGE_REPORT, false,
     true, "Draws a flame graph in the terminal"},
    {"folded", REPORT_FOLDED, NULL, NULL, NULL, false, true, USAGE_REPORT,
     false, true, "Outputs one line per stack, for flame graph tools"},
    {"gif", REPORT_DOT, "gif", "gif", NULL, false, false, USAGE_REPORT, false,
     true, "Outputs a graph image in GIF format"},
    {"gv", REPORT_DOT, "ps", "ps", "gv --noantialias", false, false,
     USAGE_REPORT, false, false, VIEW "gv"},
    {"html", REPORT_FLAME, NULL, "html", NULL, false, true, USAGE_REPORT, false,
     true, "Outputs the web page as one file that needs no server", true},
    {"json", REPORT_JSON, NULL, NULL, NULL, false, true, USAGE_REPORT, true,
     true, "Outputs top entries as JSON"},
    {"kcachegrind", REPORT_CALLGRIND, NULL, "grind", "kcachegrind", false,
     false, USAGE_REPORT, false, false, "Visualize report in KCachegrind"},
    {"list", REPORT_LIST, NULL, NULL, NULL, true, false, USAGE_CODE, false,
     false, "Output annotated source for functions matching regexp"},
    {"markdown", REPORT_MARKDOWN, NULL, NULL, NULL, false, true, USAGE_REPORT,
     true, true, "Outputs top entries as a Markdown table"},
    {"pdf", REPORT_DOT, "pdf", "pdf", NULL, false, false, USAGE_REPORT, false,
     true, GRAPH "in PDF format"},
    {"peek", REPORT_PEEK, NULL, NULL, NULL, true, false, USAGE_PEEK, false,
     false, "Output callers/callees of functions matching regexp"},
    {"png", REPORT_DOT, "png", "png", NULL, false, false, USAGE_REPORT, false,
     true, "Outputs a graph image in PNG format"},
    {"proto", REPORT_PROTO, NULL, "pb.gz", NULL, false, false, USAGE_NONE,
     false, false, "Outputs the profile in compressed protobuf format"},
    {"ps", REPORT_DOT, "ps", "ps", NULL, false, false, USAGE_REPORT, false,
     true, GRAPH "in PS format"},
    {"raw", REPORT_RAW, NULL, NULL, NULL, false, false, USAGE_NONE, false,
     false, "Outputs a text representation of the raw profile"},
    {"speedscope", REPORT_SPEEDSCOPE, NULL, NULL, NULL, false, true,
     USAGE_REPORT, false, true, "Outputs the stacks for speedscope"},
    {"svg", REPORT_DOT, "svg", "svg", NULL, false, false, USAGE_REPORT, false,
     true, GRAPH "in SVG format"},
    {"tags", REPORT_TAGS, NULL, NULL, NULL, false, false, USAGE_TAGS, false,
     false, "Outputs all tags in the profile"},
    {"text", REPORT_TEXT, NULL, NULL, NULL, false, false, USAGE_REPORT, true,
     true, "Outputs top entries in text form"},
    {"top", REPORT_TEXT, NULL, NULL, NULL, false, false, USAGE_REPORT, true,
     true, "Outputs top entries in text form"},
    {"topproto", REPORT_TOPPROTO, NULL, "pb.gz", NULL, false, false, USAGE_NONE,
     false, false, "Outputs top entries in compressed protobuf format"},
    {"traces", REPORT_TRACES, NULL, NULL, NULL, false, false, USAGE_NONE, false,
     false, "Outputs all profile samples in text form"},
    {"tree", REPORT_TREE, NULL, NULL, NULL, false, false, USAGE_REPORT, true,
     true, "Outputs a text rendering of call graph"},
    {"web", REPORT_DOT, "svg", "svg", "", false, false, USAGE_REPORT, false,
     false, VIEW "web browser"},
    {"weblist", REPORT_WEBLIST, NULL, "html", "", true, false, USAGE_CODE,
     false, false, "Display annotated source in a web browser"},
};

const size_t n_commands = sizeof(commands) / sizeof(*commands);

const struct command *command_find(struct str name)
{
    for (size_t i = 0; i < n_commands; i++)
        if (str_eq(name, str_from(commands[i].name)))
            return &commands[i];
    return NULL;
}

#define MATCHING                                                               \
    "    Include samples matching focus_regex, and exclude ignore_regex.\n"

void command_help(const struct command *c, struct buf *out)
{
    buf_addf(out, "%s\n", c->description);
    if (c->usage != USAGE_NONE)
        buf_addf(out, "  Usage:\n    %s", c->name);
    switch (c->usage) {
    case USAGE_NONE:
        break;
    case USAGE_REPORT:
        buf_addf(out, " [n] [focus_regex]* [-ignore_regex]*%s%s\n",
                 c->usage_cum ? " [-cum]" : "", c->usage_file ? " >f" : "");
        buf_add(out, STR("    Include up to n samples\n" MATCHING));
        if (c->usage_cum)
            buf_add(out, STR("    -cum sorts the output by cumulative "
                             "weight\n"));
        break;
    case USAGE_CODE:
        buf_addf(out, "<func_regex|address> [-focus_regex]* [-ignore_regex]*%s",
                 c->usage_file ? " >f\n" : "\n");
        buf_add(out, STR("    Include functions matching func_regex, or "
                         "including the address specified.\n" MATCHING));
        break;
    case USAGE_PEEK:
        buf_add(out, STR(" func_regex\n    Display callers and callees of "
                         "functions matching func_regex.\n"));
        break;
    case USAGE_TAGS:
        buf_add(out, STR(" [tag_regex]* [-ignore_regex]* [>file]\n    List "
                         "tags with key:value matching tag_regex and exclude "
                         "ignore_regex.\n"));
        break;
    }
    if (c->usage_file)
        buf_add(out, STR("    Optionally save the report on the file f\n"));
    buf_add_char(out, '\n');
}
