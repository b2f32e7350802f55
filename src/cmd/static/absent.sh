#!/bin/sh
# absent.sh NM LIBCURL.A OUT.C: functions that Debian's libcurl.a calls but that
# no static library of Debian has (Kerberos), or whose libraries would bring a
# second TLS library (RTMP, LDAP) for protocols that are never spoken: only
# http and https are allowed.  All of them fail, except for the initialisation
# of libssh2, which is part of curl's own.
set -eu
nm=$1 archive=$2 out=$3
"$nm" -u "$archive" 2>/dev/null | awk '
BEGIN {
    print "/* Made by src/cmd/static/absent.sh. */"
    print "void *GSS_C_NT_HOSTBASED_SERVICE;"
}
$1 == "U" && $2 ~ /^(gss|RTMP|ber|ldap|libssh2|psl)_/ && !seen[$2]++ {
    value = $2 ~ /^gss_/ ? "13L << 16" : "0"
    printf "long %s(void);\nlong %s(void)\n{\n    return %s;\n}\n", $2, $2, value
}' >"$out"
