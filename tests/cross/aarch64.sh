#!/bin/sh
# aarch64.sh SOURCE-ROOT: compiles libpprof for aarch64 and runs the unit tests
# of its machine-dependent parts under qemu-user.  Prints TAP.
set -u
root=$1
cc=aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if ! command -v $cc >/dev/null || [ -z "$qemu" ]; then
    echo "1..0 # SKIP needs gcc-aarch64-linux-gnu and qemu-user-static"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
report() { # report STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}
# zlib's header is the same on every machine; only its library is not there.
mkdir "$work/zlib"
cp /usr/include/zlib.h "$work/zlib"
find /usr/include -name zconf.h -exec cp {} "$work/zlib" \; 2>/dev/null
flags="-std=c11 -O2 -g -D_GNU_SOURCE -Wall -Wextra -Wno-missing-field-initializers
    -fPIC -fvisibility=hidden -pthread -DPPROF_VERSION=\"0\"
    -I$root/src -I$root/include -I$root/tests -I$work/zlib"
for f in "$root"/src/elf/*.c "$root"/src/runtime/*.c; do
    case $f in */endpoint*) continue ;; esac
    $cc $flags -Werror -c "$f" -o "$work/$(basename "$f").o" 2>"$work/said"
    status=$?
    sed 's/^/# /' "$work/said"
    report $status "compiles $(basename "$f")"
done
for f in buf error pages str; do
    $cc $flags -c "$root/src/base/$f.c" -o "$work/$f.c.o"
done
parts="cfi cfi_program maps symbols unwind_table view
    grace modules stacktable unwind buf error pages str"
for test in elf stacktable unwind_self; do
    objects=
    for part in $parts; do objects="$objects $work/$part.c.o"; done
    $cc $flags "$root/tests/unit/test_$test.c" $objects -o "$work/$test" &&
        "$qemu" -L /usr/aarch64-linux-gnu "$work/$test" >"$work/said" 2>&1
    status=$?
    sed 's/^/# /' "$work/said"
    report $status "test_$test under qemu"
done
echo "1..$n"
