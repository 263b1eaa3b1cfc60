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
# what the command is linked with, and what `tailor serve` loads: with what that is linked with
server=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | awk '$1 == "libmicrohttpd.so.12" && /x86-64/ { print $NF; exit }' || true)
libraries() {
	[ -z "$server" ] || echo "libmicrohttpd.so.12 $server"
	ldd "$tailor" ${server:+"$server"} | awk '$2 == "=>" { print $1, $3 }' | sort -u
}
# glibc must be that of the machine: it depends on its loader
mkdir -p "$folder/licences"
libraries | while read -r name path; do
	case $name in
	libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) continue ;;
	esac
	cp -L "$path" "$folder/lib/$name"
	# its licence
	package=$(dpkg-query -S "*/$(basename "$(readlink -f "$path")")" 2>/dev/null | head -n 1 | cut -d: -f1) # in /lib or /usr/lib
	[ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ] || continue
	cp -L "/usr/share/doc/$package/copyright" "$folder/licences/$package"
done
strip --strip-unneeded "$folder"/lib/*
cp -L /usr/share/doc/libiberty-dev/copyright "$folder/licences/libiberty" # linked statically
cat >"$folder/README" <<'END'
tailor runs from this folder, wherever it is copied: ./tailor help
It requires x86-64 Linux and glibc 2.36 (Debian 12) or later; libtailor.so, which is loaded into the profiled programs, requires
glibc 2.28.  ./tailor doctor lists what can be recorded on a machine.  Completion in bash:
source <(./tailor help --completion bash)
END
echo "$folder: $(du -sh "$folder" | cut -f1)"
