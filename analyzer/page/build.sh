#!/bin/bash
# SPDX-License-Identifier: MIT
# The viewer of `tailor html` out of web/: what stands in front of a page's data (head.html) and behind it (tail.html), with the
# sample table, the judges of `tailor diff` and of stalls, the solver of counts and orders of accesses as WebAssembly inside, and what
# scripts may do (policy).
# build.sh FOLDER [FLAG]... (FLAGs: of clang).
# The files are empty where esbuild or clang is missing.
set -eu
to=$1
shift
flags=("$@")
here=analyzer/page
mkdir -p "$to"
missing() {
	echo "tailor is built without its page (\`tailor html\`): $1 is missing (Debian: apt install esbuild clang lld)" >&2
	: >"$to/policy"
	: >"$to/tail.html"
	: >"$to/head.html"
	exit 0
}
command -v esbuild >/dev/null || missing esbuild
as_wasm() { # FLAG... FILE... (whatever version of lld there is: Debian's clang-15 would take wasm-ld-15 and no other)
	clang --target=wasm32 "-fuse-ld=$(command -v wasm-ld)" -O3 -std=gnu11 -Wall -Wextra -Wshadow "${flags[@]}" \
		-ffreestanding -fno-builtin -nostdlib -isystem analyzer/table/wasm -I. -Wl,--no-entry -Wl,--strip-all "$@" ||
		missing "clang for wasm32, or lld,"
}
libc=analyzer/table/wasm/memory.c
as_wasm analyzer/table/*.c analyzer/table/wasm/*.c -o "$to/table.wasm"
as_wasm analyzer/compare/{change,noise,stats}.c analyzer/compare/wasm/judge.c $libc -o "$to/judge.wasm"
as_wasm analyzer/flow/{equations,estimate,program,aggregate}.c analyzer/flow/wasm/flow.c $libc -o "$to/flow.wasm"
as_wasm analyzer/listing/culprits.c analyzer/listing/wasm/causes.c $libc -o "$to/causes.wasm"
as_wasm -Os analyzer/accesses/access_order.c analyzer/accesses/wasm/accesses.c $libc -o "$to/accesses.wasm"
esbuild "$here/web/main.js" --bundle --minify --format=iife --target=es2022 --charset=utf8 --loader:.wasm=binary \
	--alias:table.wasm="$(realpath "$to")/table.wasm" \
	--alias:judge.wasm="$(realpath "$to")/judge.wasm" --alias:flow.wasm="$(realpath "$to")/flow.wasm" \
	--alias:causes.wasm="$(realpath "$to")/causes.wasm" \
	--alias:accesses.wasm="$(realpath "$to")/accesses.wasm" --log-level=warning --outfile="$to/page.js"
esbuild "$here/web/page.css" --minify --charset=utf8 --log-level=warning --outfile="$to/page.css"
hash_of() { sha256sum <"$1" | cut -d' ' -f1 | tr a-f A-F | basenc --base16 -d | base64; }
# as they stand in the page: without the line feed at the end
for f in page.js page.css; do
	printf %s "$(cat "$to/$f")" >"$to/$f.text"
done
csp="default-src 'none'; script-src 'sha256-$(hash_of "$to/page.js.text")' 'wasm-unsafe-eval';"
csp+=" style-src 'sha256-$(hash_of "$to/page.css.text")'; img-src data: blob:; base-uri 'none'; form-action 'none'"
printf %s "$csp" >"$to/policy"
{
	printf '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="generator" content="tailor">\n<style>'
	cat "$to/page.css.text"
	printf '</style>\n'
} >"$to/head.new"
{
	printf '%s' "$(cat "$here/web/page.html")"
	printf '\n<script>'
	cat "$to/page.js.text"
	printf '</script>\n</body>\n</html>\n'
} >"$to/tail.html"
mv "$to/head.new" "$to/head.html"
