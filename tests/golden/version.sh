#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor --version --verbose` says what a report of a fault needs: the version that the Makefile has, the formats that the headers and the
# schemas have (two documents say the same), the build id that readelf reads, each library that ldd finds, and doctor's findings.
set -u
B=$1
bad=0
fail() { echo "$@"; bad=1; }
said=$("$B/tailor" --version --verbose) || fail "exit $?"
has() { grep -qE -- "$1" <<<"$said" || fail "expected $1 in: $said"; }
version=$(sed -n 's/^VERSION := //p' Makefile)
[ "$("$B/tailor" --version)" = "tailor $version" ] || fail "--version: $("$B/tailor" --version), not $version"
number() { sed -n "s/^#define $2 \([0-9]*\).*/\1/p" "$1"; }
has "^tailor $version\$"
has "trace $(number jitreg/trace/trace.h TRACE_FORMAT_VERSION), jitreg $(number jitreg/jitreg.h JITREG_VERSION_MAJOR).$(
	number jitreg/jitreg.h JITREG_VERSION_MINOR), JSON schema $(number analyzer/output/page.h PAGE_SCHEMA), store $(
	number analyzer/store/store.h STORE_FORMAT_VERSION)\$"
formats=$(grep ^formats <<<"$said")
for f in docs/upgrading.md CHANGELOG.md; do grep -qF "$formats" $f || fail "$f does not have: $formats"; done
has "build id +$(readelf -n "$B/tailor" | sed -n 's/.*Build ID: //p')"
for library in $(ldd "$B/tailor" | awk '$2 == "=>" && $3 ~ /^\// { print $1 }'); do has "$library +[^ ]+ in( /|$)"; done
wide=$(grep -E '.{81}' <<<"$said") && fail "expected lines of at most 80 columns, got: $wide"
has '^Sampling methods'
exit $bad
