#!/bin/bash
# SPDX-License-Identifier: MIT
# fetch.sh BUILD: the packages that packages lists, checked and unpacked into BUILD/consumers/NAME (without the @… in front).  Nothing
# of them is run or installed, and what they depend on is not fetched.  Exit 77, in a sentence, where that cannot be had.
set -u
B=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$B/consumers" && cd "$B/consumers" || exit 1
for program in node npm; do
	command -v $program >/dev/null || { echo "skipped, because there is no $program"; exit 77; }
done
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "${major:-0}" -ge 20 ] || { echo "skipped, because node $(node --version) is older than 20"; exit 77; }
while read -r name version sum folder; do
	short=${name##*/}
	[ "$(cat "$short/fetched" 2>/dev/null)" = "$sum" ] && continue
	if ! archive=$(timeout 120 npm pack --loglevel=error "$name@$version" 2>npm.log); then
		echo "skipped, because npm could not fetch $name $version: $(grep -m 1 'error [a-z]' npm.log || echo "no answer")"
		exit 77
	fi
	echo "$sum  $archive" | sha256sum --check --quiet ||
		{ echo "$name $version: expected an archive with the SHA-256 $sum, got $(sha256sum "$archive")"; exit 1; }
	rm -rf "$short"
	mkdir -p "$short"
	tar xzf "$archive" -C "$short" --strip-components=1 --no-same-owner "package/${folder#.}" || exit 1
	rm -f "$archive"
	echo "$sum" >"$short/fetched"
done < <(grep -v '^#' "$here/packages")
