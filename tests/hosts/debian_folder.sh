#!/bin/bash
# SPDX-License-Identifier: MIT
# A folder with packages of another release of Debian, and all that they need: debian_folder.sh FOLDER RELEASE PACKAGE...
#
# RELEASE is a suite (unstable, trixie), or experimental: unstable, with packages of experimental that it has not, and those from the
# sources that PACKAGE names.  A # in PACKAGE stands for the highest number with which there is one (llvm-#-dev).  Nothing is installed
# on this machine: packages are unpacked, and their scripts do not run, so that caches and users are missing.  Lists and packages are
# kept beside the folders, in apt/, for the next one.  A folder with the newest packages stays as it is.  It prints the version of the
# first package.
#
# A program inside runs by chroot.  It needs /proc and /dev there, and whatever of ours it is to see, at the same path:
# debian_folder.sh --bind FOLDER PATH...  mounts these, which only root can; in a mount namespace of its own (unshare --mount) they end
# with it.
#
#   MIRROR     default: the one that this machine's apt uses
#   LISTS=60   minutes after which lists of packages are fetched again
set -u
fail() { echo "$1"; exit 1; }

if [ "${1:-}" = --bind ]; then
	folder=$2
	shift 2
	mount -t proc proc "$folder/proc" && mount --rbind /dev "$folder/dev" && mount --rbind /sys "$folder/sys" || exit 1
	for path; do
		mkdir -p "$folder$path" && mount --bind "$path" "$folder$path" || exit 1
	done
	exit 0
fi

[ $# -ge 3 ] || { echo "usage: debian_folder.sh FOLDER RELEASE PACKAGE... | --bind FOLDER PATH..." >&2; exit 2; }
release=$2
mkdir -p "$1" || exit 1
folder=$(realpath "$1")
shift 2
stamp=$folder/.packages
apt=$(dirname "$folder")/apt
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -v security | head -n 1)}
mkdir -p "$apt/$release/lists/partial" "$apt/archives/partial"
for suite in $release $([ "$release" != experimental ] || echo unstable); do
	echo "deb ${mirror:-http://deb.debian.org/debian} $suite main"
done >"$apt/$release/sources"
: >"$apt/$release/status" # nothing is installed there
: >"$apt/$release/preferences"
cat >"$apt/$release/conf" <<EOF
Dir::State "$apt/$release";
Dir::State::status "$apt/$release/status";
Dir::Cache "$apt/$release";
Dir::Cache::archives "$apt/archives";
Dir::Etc::SourceList "$apt/$release/sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "$apt/$release/preferences";
Dir::Etc::PreferencesParts "/dev/null";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "1";
Acquire::http::Timeout "60";
Acquire::Check-Valid-Until "false"; # a mirror that stands still must do: packages are signed all the same
EOF
export APT_CONFIG=$apt/$release/conf LC_ALL=C
exec 8>"$apt/${folder##*/}.lock" 9>"$apt/lock" # of the folder, and of apt's files
flock 8
flock 9
if [ ! -e "$apt/$release/updated" ] || [ -n "$(find "$apt/$release/updated" -mmin +"${LISTS:-60}")" ]; then
	said=$(apt-get -q update 2>&1) || fail "lists of packages of $release: $(tail -n 1 <<<"$said")"
	touch "$apt/$release/updated"
fi
for name; do
	if [[ $name = *"#"* ]]; then
		pattern="^${name/\#/[0-9][0-9.]*}\$"
		name=$(apt-cache search --names-only "$pattern" | cut -d' ' -f1 | sort -V | tail -n 1)
		[ -n "$name" ] || fail "$release has no package $1"
	fi
	set -- "${@:2}" "$name"
done
first=$1
if [ "$release" = experimental ]; then
	printf 'Package: src:%s\nPin: release a=experimental\nPin-Priority: 600\n\n' "$@" >"$apt/$release/preferences"
fi
plan=$(apt-get -q -s install "$@" 2>&1) || fail "$(grep '^E: ' <<<"$plan" | tail -n 1)"
# Inst NAME (VERSION RELEASE [ARCHITECTURE]) is the file NAME_VERSION_ARCHITECTURE.deb, with %3a where the version has a colon.
plan=$(sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*\[\([^]]*\)\]).*/\1 \2 \3/p' <<<"$plan")
version=$(sed -n "s/^$first \\([^ ]*\\) .*/\\1/p" <<<"$plan")
if [ "$(cat "$stamp" 2>/dev/null)" = "$plan" ]; then
	echo "$version"
	exit 0
fi
said=$(apt-get -q -y -d install "$@" 2>&1) || fail "$(grep '^E: ' <<<"$said" | tail -n 1)"
flock -u 9
rm -rf --one-file-system "$folder"
mkdir -p "$folder/usr/bin" "$folder/usr/sbin" "$folder/usr/lib" "$folder/usr/lib64" \
	"$folder/proc" "$folder/sys" "$folder/dev" "$folder/tmp" "$folder/root" "$folder/etc"
chmod 1777 "$folder/tmp"
for name in bin sbin lib lib64; do
	ln -sfn "usr/$name" "$folder/$name"
done
while read -r name number architecture; do
	dpkg-deb -x "$apt/archives/${name}_${number//:/%3a}_$architecture.deb" "$folder" || fail "$name $number cannot be unpacked"
done <<<"$plan"
# Names without a version are links to the highest one, as alternatives have them: php is php8.6, llvm-config llvm-config-23.
while read -r path; do
	[ -e "$path" ] || continue
	name=${path##*/}
	[[ $name =~ ^(.*)\.[0-9]+$ ]] && minor=${BASH_REMATCH[1]} || minor=$name
	[[ $name =~ ^(.*[^0-9.-])-?[0-9.]+$ ]] && major=${BASH_REMATCH[1]} || major=$name
	for short in "$minor" "$major"; do
		[ "$path" -ef "$folder/usr/bin/$short" ] || { [ -f "$folder/usr/bin/$short" ] && [ ! -L "$folder/usr/bin/$short" ]; } ||
			ln -sfn "${path#"$folder"}" "$folder/usr/bin/$short"
	done
done < <(printf '%s\n' "$folder"/usr/lib/jvm/*/bin/* "$folder"/usr/bin/*[a-z]*[0-9] | sort -V)
[ -e "$folder/bin/sh" ] || ln -s "$(cd "$folder/usr/bin" && ls dash bash 2>/dev/null | head -n 1)" "$folder/bin/sh"
echo "$plan" >"$stamp"
echo "$version"
