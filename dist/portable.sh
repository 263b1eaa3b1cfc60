#!/bin/bash
# SPDX-License-Identifier: MIT
# Make a folder that runs without installation: dist/portable.sh TAILOR LIBTAILOR FOLDER.  (tailor-record is in the folder of LIBTAILOR.)
# The command must have been linked with RPATH $ORIGIN/lib; all its libraries but glibc's are copied there.
set -eu
tailor=$1 library=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder/lib"
cp "$tailor" "$folder/tailor"
cp "$library" "$folder/libtailor.so"
cp "$(dirname "$library")/tailor-record" "$folder/"
cp jitreg/jitreg.h jitreg/jitreg.hpp jitreg/jitreg_place.h LICENSE "$folder/"
# glibc must be that of the machine: it depends on its loader
ldd "$tailor" | awk '$2 == "=>" { print $1, $3 }' | while read -r name path; do
	case $name in
	libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) ;;
	*) cp -L "$path" "$folder/lib/$name" ;;
	esac
done
strip --strip-unneeded "$folder"/lib/*
# the licence of each library
mkdir -p "$folder/licences"
for path in $(ldd "$tailor" | awk '$2 == "=>" { print $3 }'); do
	package=$(dpkg-query -S "$(readlink -f "$path")" 2>/dev/null | head -n 1 | cut -d: -f1)
	[ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ] || continue
	[ -e "$folder/lib/$(basename "$path")" ] && cp -L "/usr/share/doc/$package/copyright" "$folder/licences/$package"
done
cp -L /usr/share/doc/libiberty-dev/copyright "$folder/licences/libiberty" # linked statically
cat >"$folder/README" <<'END'
tailor runs from this folder, wherever it is copied: ./tailor help
It requires x86-64 Linux and glibc 2.36 (Debian 12) or later; libtailor.so, which is loaded into the profiled programs, requires
glibc 2.28.  ./tailor doctor lists what can be recorded on a machine.  Completion in bash:
source <(./tailor help --completion bash)
END
echo "$folder: $(du -sh "$folder" | cut -f1)"
