# SPDX-License-Identifier: MIT
# How most live tests begin: `. tests/live/begin.bash`.  $B is the build folder, $dir a folder that goes when the test does, the hosts
# are built; `fail SENTENCE...` says it and makes $bad 1, with which the test exits.  (Who has more to clean up sets another trap.)
set -u
B=$1
bad=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$@"; bad=1; }
tests/hosts/build.sh "$B" || exit 1
