#!/bin/bash
# SPDX-License-Identifier: MIT
# DuckDB's library as npm has it, unchanged, into BUILD/duckdb, once; and the host that runs SQL in it.  fetch.sh BUILD exits 77 with a
# sentence where it cannot be had.  LIBDUCKDB=FILE takes another library.
set -u
version=1.5.6-r.1
sha512=21772b64913a904a8cd19e30c1d5671811d7fdface4b7dd53cd0300d743f43e16cf386f4e7c41ef78721ac208870d2651bc6375072145387817824315b998dd5
here=$(dirname "$0")
to=$1/duckdb
mkdir -p "$to" || exit 1
${CC:-gcc} -O2 -g -Wall -Wextra -rdynamic -o "$to/host" "$here/host.c" -ldl || exit 1
[ -z "${LIBDUCKDB:-}" ] || exit 0
[ ! -e "$to/libduckdb.so" ] || exit 0
archive=$to/package.tgz
url=https://registry.npmjs.org/@duckdb/node-bindings-linux-x64/-/node-bindings-linux-x64-$version.tgz
skip() { echo "skipped, because $1"; rm -f "$archive"; exit 77; }
command -v curl >/dev/null || skip "there is no curl to fetch DuckDB's library with"
curl -sSf --retry 2 --max-time 600 -o "$archive" "$url" 2>"$to/curl.log" ||
	skip "DuckDB's library cannot be fetched: $(head -1 "$to/curl.log")"
[ "$(sha512sum "$archive" | cut -d' ' -f1)" = "$sha512" ] || { echo "$url: it is not the file that this test was written for"; exit 1; }
tar -xzf "$archive" -C "$to" --strip-components=1 package/duckdb.node package/libduckdb.so || exit 1
rm -f "$archive"
