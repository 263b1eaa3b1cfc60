#!/bin/bash
# SPDX-License-Identifier: MIT
# Make a folder that runs without being installed: dist/portable.sh TAILOR LIBTAILOR FOLDER.  (tailor-record stands
# beside LIBTAILOR.)  The command must have been linked to
# look for libraries in $ORIGIN/lib; all that are not glibc's are copied there, with what they need themselves.
set -eu
tailor=$1 library=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder/lib"
cp "$tailor" "$folder/tailor"
cp "$library" "$folder/libtailor.so"
cp "$(dirname "$library")/tailor-record" "$folder/"
cp jitreg/jitreg.h LICENSE "$folder/"
# glibc must be the machine's own: it belongs together with its loader
ldd "$tailor" | awk '$2 == "=>" { print $1, $3 }' | while read -r name path; do
	case $name in
	libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) ;;
	*) cp -L "$path" "$folder/lib/$name" ;;
	esac
done
strip --strip-unneeded "$folder"/lib/*
# each library's licence comes along
mkdir -p "$folder/licences"
for path in $(ldd "$tailor" | awk '$2 == "=>" { print $3 }'); do
	package=$(dpkg-query -S "$(readlink -f "$path")" 2>/dev/null | head -n 1 | cut -d: -f1)
	[ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ] || continue
	[ -e "$folder/lib/$(basename "$path")" ] && cp -L "/usr/share/doc/$package/copyright" "$folder/licences/$package"
done
cat >"$folder/README" <<'END'
tailor, to be run from this folder, wherever it is copied: ./tailor help
It needs an x86-64 Linux with glibc as new as Debian 12's (2.36), and nothing else; libtailor.so, which is loaded into the
programs that are profiled, glibc 2.28.  ./tailor doctor says what can be recorded on a machine.
END
echo "$folder: $(du -sh "$folder" | cut -f1)"
