# SPDX-License-Identifier: MIT
# How tests of the page begin: `. tests/page/begin.bash`.  $B is the build folder, $dir a folder that goes when the test does, and
# $B/page-deps has the packages.  Skipped, in a sentence, where node, the network or (with `need_page`) browser and page are missing.
set -u
B=$(cd "$1" && pwd) || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v node >/dev/null || { echo "skipped, because there is no node"; exit 77; }
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "${major:-0}" -ge 18 ] || { echo "skipped, because node $(node --version) is older than 18"; exit 77; }
# One of several tests fetches.
exec 8>"$B/page-deps.lock"
flock 8
/usr/bin/python3 tests/page/fetch.py "$B/page-deps" || exit
exec 8>&-

# The trace of a recording that never was.
recording() { # TRACE
	node tests/page/generate.mjs "$B/page-deps" "$dir/made.umbraperf" 20000 &&
		node tests/page/umbraperf.mjs "$dir/made.umbraperf" -o "$1" --packages "$B/page-deps" 2>/dev/null
}

# ... and of a second one, $SECOND.
second_recording() {
	mkdir "$dir/second"
	node tests/page/generate.mjs "$B/page-deps" "$dir/second/made.umbraperf" 15000 &&
		node tests/page/umbraperf.mjs "$dir/second/made.umbraperf" -o "$dir/second/recording.tlr" --packages "$B/page-deps" \
			2>/dev/null || return
	export SECOND=$dir/second/recording.tlr
}

# How many random filters: of them a few in each check, all of them in a long one.
combinations() { # A-FEW
	echo "${COMBINATIONS:-${LONG:+200}}" | grep . || echo "$1"
}

need_page() {
	command -v chromium-headless-shell >/dev/null || { echo "skipped, because there is no chromium-headless-shell"; exit 77; }
	"$B/tailor" html --help >/dev/null 2>&1 || { echo "skipped, because this build has no page (esbuild was missing)"; exit 77; }
}
