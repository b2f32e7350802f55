# Completion of kubectl-pprof for bash.  `kubectl pprof` is completed by
# kubectl_complete-pprof, which kubectl calls.
_kubectl_pprof()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=($(kubectl_complete-pprof "${COMP_WORDS[@]:1:COMP_CWORD}" \
        2>/dev/null | grep -v '^:' | grep -F -- "$cur"))
    case $prev in
    -o|--output|--base|--token-file|--collector-token-file|--kubeconfig)
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$cur"));;
    esac
}

complete -F _kubectl_pprof kubectl-pprof
