#!/bin/bash
# SPDX-License-Identifier: MIT
# What libtailor.so shows to a host and asks of it: the exports of exports.map and no others, libc and nothing else, no symbol
# version above GLIBC_2.28 (one that is unknown stops a host from starting), no executable stack, no text relocations.
set -u
lib=$1/libtailor.so
bad=0
say() { echo "$1"; bad=1; }
want=$(sed -n '/global:/,/local:/p' agent/guest/exports.map | grep -oE '[a-z_0-9]+;' | tr -d ';' | sort)
have=$(nm -D --defined-only "$lib" | awk '{ print $3 }' | sed 's/@.*//' | sort)
[ "$want" = "$have" ] || say "exports differ from exports.map: $(diff <(echo "$want") <(echo "$have") | grep '^[<>]' | tr '\n' ' ')"
for needed in $(readelf -dW "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case $needed in libc.so.6 | libdl.so.2 | libpthread.so.0 | ld-linux-x86-64.so.2) ;; *) say "needs $needed" ;; esac
done
highest=$(objdump -T "$lib" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
[ "$(printf '%s\nGLIBC_2.28\n' "$highest" | sort -V | tail -n 1)" = GLIBC_2.28 ] || say "needs $highest, newer than GLIBC_2.28"
readelf -lW "$lib" | grep GNU_STACK | grep -q E && say "has an executable stack"
readelf -dW "$lib" | grep -q TEXTREL && say "has text relocations"
for heap in malloc calloc realloc free; do
	nm -D --undefined-only "$lib" | grep -qw "$heap" && say "uses the heap: $heap"
done
[ $bad = 0 ] && echo "exports $(echo "$have" | wc -l) symbols, needs up to $highest"
exit $bad
