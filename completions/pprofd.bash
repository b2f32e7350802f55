# Completion of pprofd for bash: a command, then its flags and arguments.
_pprofd()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()

    case $prev in
    --client-ca|--config|--tls-ca|--tls-cert|--tls-key|--token-file|--store-password-file|--store-ca|--store-cert|--store-key)
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$cur"))
        return;;
    --data|--wal)
        compopt -o filenames
        COMPREPLY=($(compgen -d -- "$cur"))
        return;;
    --scrape-self)
        COMPREPLY=($(compgen -W 'true false' -- "$cur"))
        return;;
    --log.level)
        COMPREPLY=($(compgen -W 'debug info warn error' -- "$cur"))
        return;;
    --addr)
        COMPREPLY=($(compgen -W '127.0.0.1:10100 :10100 unix:' -- "$cur"))
        return;;
    --client-allow|--exit-timeout|--hosts|--max-body|--max-disk|--max-inflated|--retention|--s3-endpoint|--archive|--store|--cluster|--store-timeout|--wal-max)
        return;;
    esac
    if [[ $cur == -* && ${COMP_WORDS[1]} == scrape ]]; then
        COMPREPLY=($(compgen -W '--collector --config --once --tls-ca --tls-cert --tls-key --token-file -o' -- "$cur"))
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$_pprofd_flags" -- "$cur"))
    elif ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W 'serve scrape query config check stats schema export import version help' -- "$cur"))
    elif [[ ${COMP_WORDS[1]} == query ]]; then
        COMPREPLY=($(compgen -W 'services labels profiles series function top merge diff' -- "$cur"))
    elif [[ ${COMP_WORDS[1]} == export || ${COMP_WORDS[1]} == import ]]; then
        compopt -o filenames
        COMPREPLY=($(compgen -d -- "$cur"))
    fi
}

_pprofd_flags='--addr --archive --client-allow --client-ca --config --data --exit-timeout
    --hosts --insecure --kubernetes --log.level --max-body --max-disk
    --max-inflated --retention --s3-endpoint --scrape-self --tls-cert --tls-key
    --token-file --store --store-password-file --store-ca --store-cert
    --store-key --cluster --store-timeout --wal
    --wal-max'

complete -F _pprofd pprofd
