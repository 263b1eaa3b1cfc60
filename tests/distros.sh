#!/bin/bash
# SPDX-License-Identifier: MIT
# README's two commands on other releases of Debian: tests/distros.sh BUILD [LAYER | LAYER/NAME]...
#
# For each release and user a fresh system in a folder, with nothing of ours: this checkout (what is committed) is cloned into it, `make
# demo` and `make check` run there, the first installs what they need.  One table; logs in BUILD/distros/.  Exit status 1 when one failed.
#
#   DISTROS="bookworm trixie testing"   releases, by debootstrap's names
#   USERS="root user"                   root, a user with sudo
#   MIRROR                              default: the one that this machine's apt uses
#   ROOTS=/var/tmp/tailor-distros       base systems and downloaded packages, kept for the next time
#   KEEP=1                              what was made for a run is kept, too
#
# Needs root and debootstrap.  Mounts are in a namespace of their own: none outlives the script.
set -u
B=$1
shift
layers=$*
roots=${ROOTS:-/var/tmp/tailor-distros}
skip() { echo "skipped, because $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can make other systems (debootstrap, chroot)"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -v security | head -n 1)}
mkdir -p "$roots" "$B/distros"

base() { # RELEASE
	[ ! -d "$roots/$1" ] || return 0
	rm -rf "$roots/$1.new"
	debootstrap --variant=minbase "$1" "$roots/$1.new" "${mirror:-http://deb.debian.org/debian}" >"$B/distros/$1.debootstrap" 2>&1 ||
		{ tail -n 3 "$B/distros/$1.debootstrap"; return 1; }
	# a mirror that stands still must do: packages are signed all the same
	echo 'Acquire::Check-Valid-Until "false";' >"$roots/$1.new/etc/apt/apt.conf.d/90mirror"
	mv "$roots/$1.new" "$roots/$1"
}

inside() { # ROOT COMMAND: with the kernel's file systems, and the packages that were fetched before
	unshare --mount --propagation private bash -c '
		root=$1 archives=$2
		mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
			mount --bind "$archives" "$root/var/cache/apt/archives" || exit 1
		exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
			bash -c "$3"' inside "$1" "$roots/archives-$release" "$2" </dev/null
}

bad=0
printf '%-10s %-6s %-8s %8s  %s\n' release user command seconds result
row() { printf '%-10s %-6s %-8s %8d  %s\n' "$release" "$user" "$1" "$2" "$3"; }
timed() { # COMMAND TEXT: run in the system, its output in a log; the last line says how it ended
	local begin=$SECONDS as=
	[ "$user" = root ] || as="runuser -u tester -- "
	log=$B/distros/$release-$user-$1
	inside "$root" "cd /home/tester/tailor && exec ${as}env HOME=/home/tester WERROR=1 $2" >"$log" 2>&1
	status=$?
	took=$((SECONDS - begin))
	[ $status = 0 ] || bad=1
}

for release in ${DISTROS:-bookworm trixie testing}; do
	base "$release" || { bad=1; continue; }
	mkdir -p "$roots/archives-$release/partial"
	for user in ${USERS:-root user}; do
		root=$roots/run-$release-$user
		rm -rf "$root"
		cp -a --reflink=auto "$roots/$release" "$root" || exit 1
		cp /etc/resolv.conf "$root/etc/resolv.conf"
		# certificate authorities of this machine's own network, through which packages of other registries come
		mkdir -p "$root/usr/local/share/ca-certificates"
		cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null
		# what somebody has who cloned a repository
		inside "$root" 'export DEBIAN_FRONTEND=noninteractive; apt-get -q update && apt-get -q -y --no-install-recommends install \
			make git sudo ca-certificates && update-ca-certificates && useradd -m -s /bin/bash tester &&
			echo "tester ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/tester' >"$B/distros/$release-$user-system" 2>&1 ||
			{ row system 0 "it cannot be made: $B/distros/$release-$user-system"; bad=1; continue; }
		git -c safe.directory='*' clone -q --no-hardlinks . "$root/home/tester/tailor" || exit 1
		[ "$user" = root ] || inside "$root" 'chown -R tester: /home/tester/tailor'
		timed demo "make demo"
		row demo "$took" "$([ $status = 0 ] && echo "exit 0" || echo "exit $status: $(tail -n 1 "$log")")"
		timed check "sh -c 'make deps-check && make check${layers:+ T=\"$layers\"}'"
		result=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" || echo "exit $status: $(tail -n 1 "$log")")
		row check "$took" "$result"
		grep -E '^(FAILED|SKIPPED) ' "$log" | cut -c1-200
		[ "${KEEP:-}" ] || rm -rf --one-file-system "$root"
	done
done
exit $bad
