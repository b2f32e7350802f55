# Completion of pprof-run for bash: its own options, then the program's name,
# then whatever completes the program's arguments.
_pprof_run()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local i word takes=
    COMPREPLY=()

    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $takes ]]; then
            takes=
        elif [[ $word == -- ]]; then
            i=$((i + 1))
            break
        elif [[ $word == -* ]]; then
            word=${word#-} word=${word#-}
            [[ " $_pprof_run_values " == *" -$word "* ]] && takes=$word
        else
            break
        fi
    done
    if ((i < COMP_CWORD)); then
        declare -F _command_offset >/dev/null && _command_offset "$i"
        return
    fi
    case $takes in
    '')
        if [[ $cur == -* ]]; then
            word=${cur#-}
            COMPREPLY=($(compgen -W "$_pprof_run_values $_pprof_run_switches" \
                -- "-${word#-}"))
        else
            compopt -o filenames
            COMPREPLY=($(compgen -c -- "$cur"))
        fi;;
    source)
        COMPREPLY=($(compgen -W 'perf perf-user timer' -- "$cur"));;
    signal)
        COMPREPLY=($(compgen -W 'USR1 USR2 HUP' -- "$cur"));;
    push)
        COMPREPLY=($(compgen -W 'cpu wall heap block mutex threads' -- "$cur"));;
    addr)
        COMPREPLY=($(compgen -W '127.0.0.1:6060 127.0.0.1:0 unix:' -- "$cur"));;
    cpuprofile|heapprofile|wallprofile|blockprofile|mutexprofile|tls-cert|\
    tls-key|client-ca|token-file|audit|collector-ca|collector-cert|\
    collector-key|collector-token-file)
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$cur"));;
    esac
}

_pprof_run_values='-addr -audit -blockprofile -blockrate -client-allow
    -client-ca -collector -collector-ca -collector-cert -collector-key
    -collector-token-file -cpuprofile -heapinterval -heapprofile -hosts
    -labels -max-connections -max-cpu -max-reply-mb -max-requests -max-seconds
    -memrate -mutexfraction -mutexprofile -push -push-exit -push-interval
    -push-seconds -rate -service -signal -source -tls-cert -tls-key
    -token-file -unix-mode -wallprofile'
_pprof_run_values=${_pprof_run_values//$'\n'/ }
_pprof_run_switches='-children -h -insecure -kubernetes -merge -v -version'

complete -F _pprof_run pprof-run
