#!/bin/bash
# SPDX-License-Identifier: MIT
# Modules of the page that compute and do not draw: tests/page/modules/ calls them with data alone, in a page without anything else.
# esbuild bundles the calls, and the browser runs them; node is not needed.
set -u
B=$1
command -v esbuild >/dev/null || { echo "skipped, because there is no esbuild"; exit 77; }
command -v chromium-headless-shell >/dev/null || { echo "skipped, because there is no chromium-headless-shell"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for cases in tests/page/modules/*.mjs; do
	esbuild "$cases" --bundle --format=iife --charset=utf8 --log-level=warning --outfile="$dir/cases.js" || exit 1
	printf '<!doctype html><meta charset="utf-8"><pre></pre><script>' >"$dir/cases.html"
	cat "$dir/cases.js" >>"$dir/cases.html"
	echo '</script>' >>"$dir/cases.html"
	HOME=$dir timeout 300 chromium-headless-shell --no-sandbox --disable-gpu --user-data-dir="$dir/profile" \
		--dump-dom "file://$dir/cases.html" >"$dir/dom" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
	sed -n 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; /<pre>/,/<\/pre>/ { s/.*<pre>//; s/<\/pre>.*//; p }' "$dir/dom" >"$dir/out"
	sed '/^$/d' "$dir/out"
	grep -q '^every case holds' "$dir/out" && continue
	bad=1
	[ -s "$dir/out" ] || { echo "$cases: the browser printed nothing"; cat "$dir/err"; }
done
exit "${bad:-0}"
