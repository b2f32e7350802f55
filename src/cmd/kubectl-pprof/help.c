/*
 * One screen.  The man page has the rest.
 */
#include "cmd/kubectl-pprof/help.h"

const char help_text[] =
    "Profiles of pods, with your own kubectl.\n"
    "\n"
    "  kubectl pprof top|flame|web [POD | TYPE/NAME | -l SELECTOR]\n"
    "      -p cpu|heap|...  --seconds 30  -o FILE  -- PPROF-ARGUMENTS\n"
    "  kubectl pprof diff OLD NEW | NAME --base FILE | NAME --collector URL "
    "--ago 24h\n"
    "  kubectl pprof capture NAME... --profiles cpu,heap  -o DIR | --collector "
    "URL\n"
    "  kubectl pprof dump NAME         stacks of all goroutines or threads\n"
    "  kubectl pprof trace NAME -o F   a Go execution trace\n"
    "  kubectl pprof targets [-A]      what can be profiled, and why not\n"
    "  kubectl pprof preset [list|NAME]\n"
    "  kubectl pprof enable|disable deploy/NAME    scrape annotations; asks "
    "first\n"
    "      --mtls  --native [--image IMAGE]  --push --collector URL\n"
    "  kubectl pprof install-preload DIR           for init containers\n"
    "  kubectl pprof get services|profiles|types --collector URL\n"
    "  kubectl pprof load FILE... --collector URL --service NAME\n"
    "\n"
    "Which pods:  -n NAMESPACE  -A  -l SELECTOR  --annotated  --preset "
    "etcd|olm|...\n"
    "             --context, --kubeconfig, --as, --token ... as in kubectl\n"
    "Where:       --port N  --scheme http|https  --path /debug/pprof  -c "
    "CONTAINER\n"
    "             --via port-forward|proxy|exec    found out unless given\n"
    "Login:       --cert-secret NAMESPACE/NAME  --server-name NAME\n"
    "             --token-file FILE\n"
    "See also:    -v shows the kubectl commands; man kubectl-pprof\n";
