#!/bin/bash
# SPDX-License-Identifier: MIT
# Build Debian packages: dist/deb.sh BUILD VERSION leaves them, source package included, in BUILD/deb.
#
#   DEBFULLNAME, DEBEMAIL   who makes them, as for Debian's own tools
#   DEB_BUILD_OPTIONS       parallel=N: by default, as many as there are processors
set -eu
out=$1/deb version=$2
source=$1/tailor-$version.tar.gz date=$(dist/date.sh)
rm -rf "$out"
mkdir -p "$out"
cp "$source" "$out/tailor_$version.orig.tar.gz"
tar -C "$out" -xzf "$source"
cd "$out/tailor-$version"
cp -r dist/debian debian
maker="${DEBFULLNAME:-the tailor authors} <${DEBEMAIL:-tailor@example.org}>"
sed -i "s/^Maintainer: .*/Maintainer: $maker/" debian/control
cat >debian/changelog <<END
tailor ($version-1) unstable; urgency=medium

  * Release $version: see CHANGELOG.md.

 -- $maker  $(LC_ALL=C date -u -R -d "@$date")
END
export DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=$(nproc)}
dpkg-buildpackage -us -uc >"../build.log" 2>&1 || { tail -n 40 ../build.log; exit 1; }
cd ..
rm -rf "tailor-$version"
ls ./*.deb ./*.dsc
