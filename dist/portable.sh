#!/bin/bash
# SPDX-License-Identifier: MIT
# Make a folder that runs without installation, and FOLDER.tar.gz of it: dist/portable.sh BUILD FOLDER
#
# The two programs bring all their libraries, the C library and its loader too, so that neither's age matters (dist/own_loader.c).  The
# agents are loaded by programs of the machine with that one's C library: they need no newer one than tests/lint/exports.sh allows.
set -eu
build=$1 folder=$2
rm -rf "$folder" "$folder.tar.gz"
mkdir -p "$folder/lib" "$folder/licences"
cp "$build/portable" "$folder/tailor"
cp "$build/portable-record" "$folder/tailor-record"
cp "$build/libtailor.so" "$build/libtailor-intel.so" jitreg/jitreg.h jitreg/jitreg.hpp jitreg/jitreg_place.h LICENSE "$folder/"
# what the command is linked with, and what `tailor serve` loads: with what that is linked with
server=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | awk '$1 == "libmicrohttpd.so.12" && /x86-64/ { print $NF; exit }' || true)
libraries() {
	[ -z "$server" ] || echo "libmicrohttpd.so.12 $server"
	ldd "$build/portable" "$build/portable-record" ${server:+"$server"} |
		awk '$2 == "=>" { print $1, $3 } $1 ~ /\/ld-linux-x86-64.so.2$/ { print "ld-linux-x86-64.so.2", $1 }' | sort -u
}
licence_of() { # FILE-IN-FOLDER PACKAGE: its copyright, and a line of where its source is
	[ -f "/usr/share/doc/$2/copyright" ] || { echo "portable.sh: no licence of $1 on this machine" >&2; return; }
	cp -L "/usr/share/doc/$2/copyright" "$folder/licences/$2"
	dpkg-query -W -f "$1  \${Package}  \${source:Package}=\${source:Version}\n" "$2" | head -n 1 >>"$folder/licences/SOURCES"
}
libraries | while read -r name path; do
	[ -f "$path" ] || { echo "portable.sh: $name is missing on this machine" >&2; exit 1; }
	cp -L "$path" "$folder/lib/$name"
	real=$(readlink -f "$path") # packages say /lib or /usr/lib
	licence_of "lib/$name" "$(dpkg-query -S "$real" "${real#/usr}" 2>/dev/null | head -n 1 | cut -d: -f1)"
done
[ -x "$folder/lib/ld-linux-x86-64.so.2" ] || { echo "portable.sh: no ld-linux-x86-64.so.2 among the libraries" >&2; exit 1; }
strip --strip-unneeded "$folder"/lib/*
licence_of tailor libiberty-dev # linked statically, as tailor-record is with libraries that are in lib/, too
# the texts that copyrights of Debian's packages only name
cat "$folder"/licences/* | grep -oE '/usr/share/common-licenses/[A-Za-z]+-?[0-9.]*[0-9]' | sort -u | while read -r text; do
	[ ! -f "$text" ] || cp -L "$text" "$folder/licences/"
done
cp THIRD-PARTY.md "$folder/licences/"

# PT_INTERP becomes PT_NULL: the first four bytes of its program header.
for program in "$folder/tailor" "$folder/tailor-record"; do
	read -r table size < <(readelf -hW "$program" |
		awk '/Start of program headers/ { at = $5 } /Size of program headers/ { print at, $5 }')
	index=$(readelf -lW "$program" | awk '/^  Type/ { on = 1; next } on && /^  INTERP/ { print nr; exit } on && /^  [A-Z]/ { nr++ }')
	[ -n "$index" ] || { echo "portable.sh: $program has no PT_INTERP" >&2; exit 1; }
	head -c 4 /dev/zero | dd of="$program" bs=1 seek=$((table + index * size)) conv=notrunc status=none
	! readelf -lW "$program" | grep -q INTERP || { echo "portable.sh: $program still has a PT_INTERP" >&2; exit 1; }
done
cat >"$folder/README" <<'END'
tailor runs from this folder, wherever it is copied as a whole: ./tailor help
It requires x86-64 Linux 5.15 or later and nothing else: its libraries, the C
library too, are in lib/.  libtailor.so, which is loaded into the profiled
programs, requires that these have glibc 2.28 or later.  ./tailor doctor lists
what can be recorded on a machine.  Completion in bash:
source <(./tailor help --completion bash)
licences/ has the libraries' licences and, in SOURCES, the Debian packages that
they and their sources are in (apt-get source NAME=VERSION, or
https://snapshot.debian.org).  Remove the folder, and nothing is left.
END
set -o pipefail
tar -C "$(dirname "$folder")" --sort=name --mtime="@$(dist/date.sh)" --owner=0 --group=0 --numeric-owner -cf - "$(basename "$folder")" |
	gzip -9n >"$folder.tar.gz"
echo "$folder: $(du -sh "$folder" | cut -f1), $folder.tar.gz: $(du -sh "$folder.tar.gz" | cut -f1)"
