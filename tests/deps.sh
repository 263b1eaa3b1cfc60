#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the Debian packages named on the command line that are missing.  Silent and fast when none is.
missing=
for package; do
	case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
	*' installed') ;;
	*) missing="$missing $package" ;;
	esac
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
	as_root="sudo"
elif [ -t 0 ] && command -v sudo >/dev/null 2>&1; then
	as_root="sudo"
else
	echo "make: these packages are missing and this user may not install them; as root, run:" >&2
	echo "    apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
echo "installing:$missing" >&2
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() {
	# shellcheck disable=SC2086
	$as_root apt-get install -y -q --no-install-recommends $missing >"$log" 2>&1
}
if ! install; then
	$as_root apt-get update -q >>"$log" 2>&1
	if ! install; then
		tail -n 20 "$log" >&2
		echo "make: apt-get could not install:$missing" >&2
		exit 1
	fi
fi
