#!/bin/bash
# SPDX-License-Identifier: MIT
# Build Debian packages: dist/deb.sh BUILD VERSION leaves them, source package included, in BUILD/deb.
set -eu
out=$1/deb version=$2
rm -rf "$out"
mkdir -p "$out/tailor-$version"
# the files of this tree, whether it is a clone or was unpacked
if git rev-parse --git-dir >/dev/null 2>&1; then
	git ls-files -z
else
	find . -type f -not -path './build*' -print0
fi | tar --null --files-from=- -cf - | tar -xf - -C "$out/tailor-$version"
tar -C "$out" -czf "$out/tailor_$version.orig.tar.gz" --exclude=dist/debian "tailor-$version"
mv "$out/tailor-$version/dist/debian" "$out/tailor-$version/debian"
cd "$out/tailor-$version"
dpkg-buildpackage -us -uc >"../build.log" 2>&1 || { tail -n 40 ../build.log; exit 1; }
cd ..
rm -rf "tailor-$version"
ls ./*.deb ./*.dsc
