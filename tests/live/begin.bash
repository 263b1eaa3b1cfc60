# SPDX-License-Identifier: MIT
# How live tests begin: `. tests/live/begin.bash`.  $B is the build folder, $dir a folder that goes when the test does, the hosts are
# built; `fail SENTENCE...` says what is wrong, and `finish` ends the test.  (Who has more to clean up sets another trap.)
set -u
B=$(cd "$1" && pwd) || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/evidence.bash
tests/hosts/build.sh "$B" || exit 1

facts() { # PAGE: what its numbers stand for, as JSON
	/usr/bin/python3 -c 'import base64, gzip, re, sys
block = re.search(r"id=\"tailor-0-facts\"[^>]*>([^<]*)<", open(sys.argv[1]).read()).group(1)
print(gzip.decompress(base64.b64decode(block)).decode())' "$1"
}
