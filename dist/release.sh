#!/bin/bash
# SPDX-License-Identifier: MIT
# What is released: dist/release.sh BUILD VERSION leaves the source archive, the portable folder, Debian's packages and SHA256SUMS in
# BUILD/release.  All is built from the archive, in a folder of its own, and no byte depends on where or when.
set -eu
out=$1/release version=$2
SOURCE_DATE_EPOCH=$(dist/date.sh)
export SOURCE_DATE_EPOCH
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES B
rm -rf "$out"
mkdir -p "$out"
cp "$1/tailor-$version.tar.gz" "$out/"
tar -C "$out" -xzf "$out/tailor-$version.tar.gz"
cd "$out/tailor-$version"
make -s -j"$(nproc)" CFLAGS="-O2 -g -ffile-prefix-map=$PWD=." portable
mv "build/tailor-$version-x86_64.tar.gz" ../
cp "../tailor-$version.tar.gz" build/
dist/deb.sh "$PWD/build" "$version" >../log || { cat ../log; exit 1; }
rm ../log
mv build/deb/*.deb build/deb/*.dsc build/deb/*.debian.tar.* build/deb/*.orig.tar.* ../
cd ..
rm -rf "tailor-$version"
sha256sum -- *.deb *.dsc *.tar.* >SHA256SUMS
cat SHA256SUMS
