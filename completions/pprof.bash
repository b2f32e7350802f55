# Completion of pprof for bash.
_pprof()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local flag= value=$cur
    COMPREPLY=()

    # -flag=value comes as three words, since = separates words.
    if [[ $cur == = ]]; then
        flag=$prev value=
    elif [[ $prev == = ]]; then
        flag=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $cur == -* ]]; then
        value=${cur#-}
        COMPREPLY=($(compgen -W "$_pprof_flags" -- "-${value#-}"))
        [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] &&
            compopt -o nospace
        return
    elif [[ $prev == -* ]]; then
        flag=$prev
    fi
    flag=${flag#-}
    case ${flag#-} in
    symbolize)
        COMPREPLY=($(compgen -W 'none local fastlocal remote force
            demangle=none demangle=full demangle=templates' -- "$value"));;
    unit)
        COMPREPLY=($(compgen -W 'minimum auto ns us ms s B kB MB GB' -- "$value"));;
    source_path|trim_path|tools)
        compopt -o filenames
        COMPREPLY=($(compgen -d -- "$value"));;
    list|peek|weblist|disasm|focus|ignore|\
    hide|show|show_from|prune_from|tagfocus|tagignore|\
    tagshow|taghide|tagroot|tagleaf|sample_index|divide_by|\
    nodecount|nodefraction|edgefraction|seconds|timeout|\
    buildid|add_comment|header|fail_above|fail_above_share|tls_server_name|http)
        ;;
    *)
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$value"));;
    esac
}

_pprof_flags='
    -add_comment= -addresses -all_frames -alloc_objects -alloc_space
    -base= -buildid= -call_tree -callgrind -comments -compact_labels
    -contentions -cum -diff_base= -disasm= -divide_by= -dot
    -drop_negative -edgefraction= -eog -evince -explain -fail_above=
    -fail_above_share= -filefunctions -files -flame -flat -focus=
    -folded -functions -gif -gv -header= -help -help_all -hide= -html
    -http= -http_cert= -http_client_ca= -http_key= -ignore=
    -intel_syntax -inuse_objects -inuse_space -json -kcachegrind
    -lines -list= -markdown -mean -mean_delay -no_browser -no_save
    -nodecount= -nodefraction= -noinlines -normalize -output= -pdf
    -peek= -png -proto -prune_from= -ps -raw -relative_percentages
    -sample_index= -seconds= -show= -show_from= -showcolumns
    -source_path= -speedscope -svg -symbolize= -tagfocus= -taghide=
    -tagignore= -tagleaf= -tagroot= -tags -tagshow= -text -timeout=
    -tls_ca= -tls_cert= -tls_key= -tls_server_name= -token_file= -tools= -top -topproto
    -total_delay -traces -tree -trim -trim_path= -unit= -version -web
    -weblist='

complete -F _pprof pprof
