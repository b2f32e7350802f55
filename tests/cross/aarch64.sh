#!/bin/sh
# aarch64.sh SOURCE-ROOT: compiles libpprof for aarch64 with warnings as
# errors and runs under qemu-user the unit tests that need neither zlib (which
# the cross compiler does not bring) nor signals between threads.  Prints TAP.
set -u
root=$1
cc=aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if ! command -v $cc >/dev/null || [ -z "$qemu" ]; then
    echo "1..0 # SKIP needs gcc-aarch64-linux-gnu and qemu-user-static"
    exit 0
fi
command -v ccache >/dev/null && cc="ccache $cc"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
report() { # report STATUS NAME
    n=$((n + 1))
    sed 's/^/# /' "$work/said"
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

# Headers that are the same on every machine; only the libraries are not here.
mkdir "$work/include" "$work/include/openssl"
cp /usr/include/zlib.h "$work/include"
cp /usr/include/openssl/*.h "$work/include/openssl" 2>/dev/null
for f in zconf.h openssl/configuration.h openssl/opensslconf.h; do
    find /usr/include/*-linux-gnu -path "*/$f" -exec cp {} \
        "$work/include/$f" \; 2>/dev/null
done

# What the library is made of, as its meson.build says, and the tests' arena.
sources=$(
    sed -n "s,^ *'\([a-z0-9_./]*\.c\)'.*,\1,p" \
        "$root/src/runtime/meson.build"
    for f in "$root"/src/elf/*.c; do echo "../elf/$(basename "$f")"; done
    for f in arena hash label_set log map memory_scope path sha256; do
        echo "../base/$f.c"
    done
)
cat >"$work/flags" <<END
-std=c11 -O2 -g -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion
-Wno-sign-conversion -Wno-missing-field-initializers -Werror -fPIC
-fvisibility=hidden -pthread -DPPROF_VERSION='"0"' -I$root/src
-I$root/include -I$root/tests -I$work/include
END
cc="$cc @$work/flags"
cd "$root/src/runtime" || exit 1
for f in $sources; do
    echo "$f $work/$(echo "$f" | tr -d . | tr / _).o"
done | xargs -P 2 -n 2 sh -c "$cc -c \$0 -o \$1" >"$work/said" 2>&1
status=$?
report $status "libpprof compiles for aarch64 without a warning"
cat >"$work/zlib.c" <<'END'
#include <zlib.h>
int deflateInit2_(z_streamp z, int l, int m, int w, int e, int s,
                  const char *v, int n) { return Z_MEM_ERROR; }
uLong deflateBound(z_streamp z, uLong n) { return n; }
int deflate(z_streamp z, int f) { return Z_MEM_ERROR; }
int deflateEnd(z_streamp z) { return Z_OK; }
END
$cc -Wno-unused-parameter -c "$work/zlib.c" -o "$work/zlib.o"
aarch64-linux-gnu-ar rcs "$work/libpprof.a" "$work"/*.o

for test in base elf goformat heap_math jit json labels stacktable \
    unwind_self; do
    $cc "$root/tests/unit/test_$test.c" "$work/libpprof.a" -lm \
        -o "$work/$test" >"$work/said" 2>&1 &&
        "$qemu" -L /usr/aarch64-linux-gnu "$work/$test" >"$work/said" 2>&1
    status=$?
    report $status "test_$test under qemu"
done
echo "1..$n"
