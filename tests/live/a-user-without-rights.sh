#!/bin/bash
# SPDX-License-Identifier: MIT
# What a user without rights may do works, as it does for root: the tests with a line "# Rights: why" run once more as nobody, in a copy
# of this tree that is theirs.
# Alone: it records what others of the machine's users must not disturb
set -u
B=$(cd "$1" && pwd) || exit 1
[ "$(id -u)" = 0 ] || { echo "skipped, because this user cannot become another (and has run these tests already)"; exit 77; }
mapfile -t tests < <(grep -lE '^# Rights: ' tests/live/*.sh tests/page/*.sh | sed 's/^tests//; s/^.//')
copy=$(mktemp -d /var/tmp/tailor-user-XXXXXX) || exit 1
trap 'rm -rf --one-file-system "$copy"' EXIT
tar -c --exclude=.git --exclude=./build* --exclude="./$(basename "$B")" . | tar -x -C "$copy" || exit 1
mkdir "$copy/build" "$copy/home" || exit 1
tar -c -C "$B" --exclude=./libfuzzer --exclude=./fuzz --exclude=./unit --exclude='./test-log*' --exclude=./distros . |
	tar -x -C "$copy/build" || exit 1
chown -R nobody: "$copy" && chmod 755 "$copy" || exit 1
cd "$copy" || exit 1
runuser -u nobody -- env -i HOME="$copy/home" PATH="$PATH" TERM=dumb tests/run.sh build "${tests[@]%.sh}" >"$copy/said" 2>&1
status=$?
sed -n '/^FAILED/,$p' "$copy/said"
result=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$copy/said") || { cat "$copy/said"; exit 1; }
echo "FIGURE as nobody: $result"
sed -n 's/^SKIPPED */FIGURE skipped: /p' "$copy/said" | cut -c1-160
exit $status
