complete -c kubectl-pprof -f -a '(kubectl_complete-pprof (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null | string match -v ":*")'
