#!/bin/bash
# SPDX-License-Identifier: MIT
# What libtailor.so shows to a host and asks of it: the exports of exports.map and no others, libc and nothing else, no symbol
# version above GLIBC_2.28 (one that is unknown stops a host from starting; nor in libtailor-intel.so), no executable stack, no text
# relocations, at most 1 MiB of its address space (a host may run under ulimit -d or -v).
set -u
lib=$1/libtailor.so
bad=0
say() { echo "$1"; bad=1; }
want=$(sed -n '/global:/,/local:/p' agent/guest/exports.map | grep -oE '[A-Za-z_0-9]+;' | tr -d ';' | sort)
have=$(nm -D --defined-only "$lib" | awk '{ print $3 }' | sed 's/@.*//' | sort)
[ "$want" = "$have" ] || say "exports differ from exports.map: $(diff <(echo "$want") <(echo "$have") | grep '^[<>]' | tr '\n' ' ')"
for needed in $(readelf -dW "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case $needed in libc.so.6 | libdl.so.2 | libpthread.so.0 | ld-linux-x86-64.so.2) ;; *) say "needs $needed" ;; esac
done
for file in "$lib" "$1/libtailor-intel.so"; do
	versions=$(readelf -VW "$file" | sed -n '/Version needs/,$ s/.*Name: \(GLIBC_[^ ]*\).*/\1/p' | sort -Vu)
	for version in $versions; do # GLIBC_ABI_DT_RELR and its like are newer, too
		[ "$(printf '%s\nGLIBC_2.28\n' "$version" | sort -V | tail -n 1)" = GLIBC_2.28 ] ||
			say "${file##*/} needs $version, newer than GLIBC_2.28: $(objdump -T "$file" |
				awk -v v="($version)" 'NF > 1 && $(NF - 1) == v { print $NF }' | tr '\n' ' ')(agent/guest/old_libc.h)"
	done
	[ "$file" != "$lib" ] || highest=$(tail -n 1 <<<"$versions")
done
readelf -lW "$lib" | grep GNU_STACK | grep -q E && say "has an executable stack"
readelf -dW "$lib" | grep -q TEXTREL && say "has text relocations"
bytes=$(size "$lib" | awk 'NR == 2 { print $4 }')
[ "$bytes" -le $((1 << 20)) ] || say "takes $bytes bytes of a host's address space: what only some hosts need comes with use"
for heap in malloc calloc realloc free; do
	nm -D --undefined-only "$lib" | grep -qw "$heap" && say "uses the heap: $heap"
done
[ $bad = 0 ] && echo "exports $(echo "$have" | wc -l) symbols, needs up to $highest"
exit $bad
