# SPDX-License-Identifier: MIT
# How live tests begin: `. tests/live/begin.bash`.  $B is the build folder, $dir a folder that goes when the test does, the hosts are
# built; `fail SENTENCE...` says what is wrong, and `finish` ends the test.  (Who has more to clean up sets another trap.)
set -u
B=$(cd "$1" && pwd) || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/evidence.bash
tests/hosts/build.sh "$B" || exit 1
