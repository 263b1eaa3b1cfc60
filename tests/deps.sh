#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the Debian packages named on the command line that are missing, after a sentence that says which, and how to do so by hand.
# Silent and fast when none is.
#
#   tests/deps.sh PACKAGE...          "a|b": a, or where this release has no a, b; "a?": not where this release has none
#   tests/deps.sh --missing HEADER... says in a sentence which packages of this distribution have these headers, and fails
#
# Where there is no apt nothing is installed: what the build needs is named, for dnf, pacman, zypper and apk.
table=$(dirname "$0")/../dist/libraries

# What installs packages here, and the column of the table that has its names.
if command -v apt-get >/dev/null 2>&1; then
	column=2 how="apt-get install --no-install-recommends"
elif command -v dnf >/dev/null 2>&1; then
	column=3 how="dnf install"
elif command -v pacman >/dev/null 2>&1; then
	column=4 how="pacman -S"
elif command -v zypper >/dev/null 2>&1; then
	column=5 how="zypper install"
elif command -v apk >/dev/null 2>&1; then
	column=6 how="apk add"
else
	column=2 how="install (Debian's names)"
fi

known() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | grep -v '(none)')" ]; }
installed() {
	case $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) in *' installed') ;; *) return 1 ;; esac
}
# The first of "a|b" that is installed, else the first that this release has, else the first; nothing of "a?" without a candidate.
choose() {
	word=${1%\?}
	for a in $(echo "$word" | tr '|' ' '); do ! installed "$a" || { echo "$a"; return; }; done
	for a in $(echo "$word" | tr '|' ' '); do ! known "$a" || { echo "$a"; return; }; done
	[ "$word" != "$1" ] || echo "${word%%|*}"
}

if [ "${1:-}" = --missing ]; then
	shift
	packages=
	for header; do
		name=$(awk -v h="$header" -v c="$column" '$1 == h { print $c }' "$table")
		[ $column != 2 ] || name=$(choose "$name")
		case " $packages " in *" $name "*) ;; *) packages="$packages $name" ;; esac
	done
	echo "make: the build needs $* (on this system: $how$packages)" >&2
	exit 1
fi
[ $column = 2 ] && command -v dpkg-query >/dev/null 2>&1 || exit 0

missing=
for package; do
	found=
	for a in $(echo "${package%\?}" | tr '|' ' '); do ! installed "$a" || found=1; done
	[ "$found" ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
	as_root="sudo"
elif [ -t 0 ] && command -v sudo >/dev/null 2>&1; then
	as_root="sudo"
else
	as_root="cannot"
fi
# Names are chosen by apt's lists: an image may come without any.
if [ "$as_root" != cannot ] && ! known gcc; then
	$as_root apt-get update -q >/dev/null 2>&1
fi
names=
for package in $missing; do names="$names $(choose "$package")"; done
names=$(echo $names) # (one space between two)
[ -n "$names" ] || exit 0 # this release has none of them
if [ "$as_root" = cannot ]; then
	echo "make: these packages are missing and this user may not install them; as root, run:" >&2
	echo "    $how $names" >&2
	exit 1
fi
{
	echo "make: Debian packages are missing, and are installed now; by hand, as root, it is:"
	echo "    $how $names"
} >&2
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() {
	# shellcheck disable=SC2086
	$as_root apt-get install -y -q --no-install-recommends $names >"$log" 2>&1
}
if ! install; then
	$as_root apt-get update -q >>"$log" 2>&1
	if ! install; then
		tail -n 20 "$log" >&2
		echo "make: apt-get could not install: $names" >&2
		exit 1
	fi
fi
