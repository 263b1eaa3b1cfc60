#!/bin/bash
# SPDX-License-Identifier: MIT
# Plan nodes of the newest PostgreSQL that Debian has, in experimental if it is there: tests/postgres/newest.sh TAILOR [FOLDER]
#
# TAILOR is the portable folder (make portable).  Debian's packages are fetched by apt with sources of this script's own, and unpacked into
# a system in FOLDER (default: /var/tmp/tailor-newest/postgres), where check.py runs.  Nothing is installed on this machine.  A row says of
# each way, JIT off and on, with and without workers: samples of the query; the share of them on a node, and in a class of work as (LLVM
# compiling); the share of those in the executor that are in either.  Exit status 1 when that is less than 99 % attached, or 98 % preloaded.
#
#   QUERIES=q09 SCALE=0.2 WAYS JIT WORKERS RATE    as of check.py (README.md); Q9 scans, joins and aggregates
#   SUITES="unstable experimental"                           where packages are looked for
#   MIRROR                                                   default: the one that this machine's apt uses
#
# Needs root.  Mounts are in a namespace of their own: none outlives the script.
set -eu
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: tests/postgres/newest.sh TAILOR [FOLDER]" >&2; exit 2; }
tailor=$1 folder=${2:-/var/tmp/tailor-newest/postgres}
skip() { echo "skipped, because $1"; exit 77; }
[ -x "$tailor/tailor" ] && [ -d "$tailor/lib" ] || { echo "newest.sh: $tailor is no portable folder (make portable)" >&2; exit 2; }
[ "$(id -u)" = 0 ] || skip "only root can start a server in another system (chroot)"
command -v apt-get >/dev/null || skip "there is no apt to fetch packages with"
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -v security | head -n 1)}
suites=${SUITES:-unstable experimental}
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
folder=$(cd "$folder" && pwd)
root=$folder/root

# apt with an empty list of installed packages, so that it fetches all that the server needs.
for suite in $suites; do echo "deb ${mirror:-http://deb.debian.org/debian} $suite main"; done >"$folder/sources"
: >"$folder/status"
: >"$folder/preferences"
own() { # TOOL ARGUMENTS...
	local tool=$1
	shift
	"$tool" -q -o Dir::State::lists="$folder/lists" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
		-o Dir::Etc::SourceList="$folder/sources" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences="$folder/preferences" -o Dir::Etc::PreferencesParts=/dev/null \
		-o APT::Install-Recommends=false -o APT::Sandbox::User=root "$@"
}
fetch() {
	own apt-get update || return 1
	major=$(own apt-cache pkgnames postgresql- | sed -n 's/^postgresql-\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
	[ "$major" ] || { echo "no server in $suites of $mirror"; return 1; }
	# what experimental has of other programs does not fit together
	printf 'Package: src:postgresql-%s\nPin: release a=experimental\nPin-Priority: 600\n' "$major" >"$folder/preferences"
	own apt-get -y --download-only install "postgresql-$major" "postgresql-$major-jit" python3 binutils coreutils dash util-linux &&
		own apt-get autoclean
}
unpack() {
	local archives link
	archives=$(ls "$folder/cache/archives")
	[ "$archives" != "$(cat "$root/archives" 2>/dev/null)" ] || return 0
	rm -rf --one-file-system "$root" "$root.new"
	mkdir -p "$root.new"/{usr/{bin,lib,lib64,sbin},etc,proc,sys,dev,tmp,opt,checkout}
	for link in bin lib lib64 sbin; do ln -s "usr/$link" "$root.new/$link"; done
	for link in "$folder"/cache/archives/*.deb; do dpkg -x "$link" "$root.new" || return 1; done
	chmod 1777 "$root.new/tmp"
	ln -sf dash "$root.new/usr/bin/sh"
	printf 'root:x:0:0::/root:/bin/sh\npostgres:x:999:999::/tmp:/bin/sh\n' >"$root.new/etc/passwd"
	printf 'root:x:0:\npostgres:x:999:\n' >"$root.new/etc/group"
	echo "$archives" >"$root.new/archives"
	mv "$root.new" "$root"
}
fetch >"$folder/log" 2>&1 || skip "the packages cannot be fetched: $(tail -n 1 "$folder/log") ($folder/log)"
unpack >>"$folder/log" 2>&1 || { echo "newest.sh: $(tail -n 1 "$folder/log") ($folder/log)" >&2; exit 1; }
rm -rf --one-file-system "$root/opt/tailor"
cp -r "$tailor" "$root/opt/tailor"

inside() { # [NAME=VALUE]... COMMAND: from the top folder of the checkout, which cannot be written to
	unshare --mount --propagation private bash -c '
		root=$1
		shift
		mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
			mount --bind . "$root/checkout" && mount -o remount,bind,ro "$root/checkout" || exit 1
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
			PGBIN=/usr/lib/postgresql/'"$major"'/bin env -C /checkout "$@"' inside "$root" "$@" </dev/null
}
version=$(chroot "$root" "/usr/lib/postgresql/$major/bin/postgres" --version | sed 's/^[^0-9]*\([^ ]*\).*/\1/')
given=()
for name in WAYS JIT WORKERS RATE; do [ -z "${!name:-}" ] || given+=("$name=${!name}"); done
status=0
inside PARTS=nodes "QUERIES=${QUERIES:-q09}" SECONDS=3 "SCALE=${SCALE:-0.2}" "${given[@]}" \
	python3 tests/postgres/check.py /opt/tailor >"$folder/check" 2>&1 || status=$?
[ $status != 77 ] || skip "$(sed -n '$s/^skipped, because //p' "$folder/check")"
awk -v version="$version" '
	BEGIN { line = "%-11s %-8s %-8s %-4s %7s %8s %7s %7s %9s\n"
		printf line, "host", "version", "way", "JIT", "workers", "samples", "node", "class", "executor" }
	$1 == "total" {
		printf line, "PostgreSQL", version, $2 == "agent" ? "preload" : $2, $3, $4, $5, $6, $7, $9
		nr++
		if ($9 + 0 < ($2 == "agent" ? 98 : 99)) bad = 1
	}
	END { exit bad || !nr }' "$folder/check" || status=1
[ $status = 0 ] || tail -n 5 "$folder/check"
exit $status
