#!/bin/sh
# one-object.sh ARCHIVE OUT LD OBJCOPY AR: links all members into one object
# and makes its hidden symbols local, so that a program which links the
# archive can neither see nor collide with any name but pprof_*.
set -eu
archive=$1 out=$2 ld=$3 objcopy=$4 ar=$5
object=$out.o
"$ld" -r --whole-archive "$archive" -o "$object"
# The code gets a section of its own, by which own_code.c knows it.
"$objcopy" --localize-hidden --rename-section .text=pprof_text "$object"
rm -f "$out"
"$ar" rcs "$out" "$object"
rm -f "$object"
