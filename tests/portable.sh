#!/bin/bash
# SPDX-License-Identifier: MIT
# The portable folder on other releases of Debian than the one that built it: tests/portable.sh BUILD FOLDER
#
# For each release a system in a folder, with none of our libraries, and hosts of its own: LuaJIT, whose traces the agent names, and Perl.
# One table: the release and its C library, and of each of our commands whether it does there what it is for.  Logs are in
# BUILD/portable-check/.  Exit status 1 when one failed.
#
#   DISTROS="bullseye bookworm trixie testing"   releases, by debootstrap's names
#   MIRROR                                       default: the one that this machine's apt uses
#   ROOTS=/var/tmp/tailor-distros                the systems, kept for the next time
#
# Needs root and debootstrap.  Mounts are in a namespace of their own: none outlives the script.
set -u
[ $# = 2 ] || { echo "usage: tests/portable.sh BUILD FOLDER" >&2; exit 2; }
B=$1 folder=$2
roots=${ROOTS:-/var/tmp/tailor-distros}
skip() { echo "skipped, because $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can make other systems (debootstrap, chroot)"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -v security | head -n 1)}
logs=$B/portable-check
mkdir -p "$roots" "$logs"

inside() { # COMMAND: in $root; samples of the kernel's clock need /sys
	unshare --mount --propagation private bash -c '
		mountpoint -q "$1/proc" || mount -t proc proc "$1/proc" || exit 1
		mountpoint -q "$1/sys" || mount --rbind /sys "$1/sys" || exit 1
		mountpoint -q "$1/dev" || mount --rbind /dev "$1/dev" || exit 1
		exec chroot "$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
			DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 timeout 600 bash -c "$2"' inside "$root" "$1" </dev/null
}

make_root() {
	if [ ! -d "$root" ]; then
		rm -rf --one-file-system "$root.new"
		debootstrap --variant=minbase "$release" "$root.new" "${mirror:-http://deb.debian.org/debian}" || return 1
		# a mirror that stands still must do: packages are signed all the same
		echo 'Acquire::Check-Valid-Until "false";' >"$root.new/etc/apt/apt.conf.d/90mirror"
		mv "$root.new" "$root"
	fi
	inside 'command -v luajit && command -v perl' && return
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	inside 'apt-get -q update && apt-get -q -y --no-install-recommends install luajit perl-base'
}

# What is asked of a report: its JSON is read here, where there is a Python with all of its library.
asks() { # CONDITION: of functions
	/usr/bin/python3 -c '
import json, sys
functions = json.load(sys.stdin)["tables"]["functions"]
code = [f for f in functions if f["image"] == "(generated)"]
def samples(of): return sum(f["samples"] for f in of)
sys.exit(not ('"$1"'))'
}
functions() { inside "/opt/tailor/tailor report --json --view functions --top 0 $1"; }
# Nearly all samples of generated code are in a trace, so the agent has heard LuaJIT.
named='samples(f for f in code if f["name"].startswith("TRACE")) >= max(20, 0.95 * samples(code))'
lua="luajit -e 'local s = 0 while os.clock() < 1 do for i = 1, 1e6 do s = s + i % 7 end end print(s)'"

does_doctor() { inside "/opt/tailor/tailor doctor luajit" | tee /dev/stderr | grep -q 'JIT interfaces'; }
does_run() { inside "/opt/tailor/tailor run -o /tmp/run.tlr -- $lua" && functions /tmp/run.tlr | asks "$named"; }
# without `tailor run` the agent starts tailor-record, from within the host
does_preload() {
	inside "rm -f /tmp/preload.tlr; LD_PRELOAD=/opt/tailor/libtailor.so TAILOR_OUTPUT=/tmp/preload.tlr $lua || exit 1
		for _ in \$(seq 300); do
			/opt/tailor/tailor dump /tmp/preload.tlr 2>/dev/null | grep -q ' END ' && exit
			sleep 0.1
		done
		exit 1" && functions /tmp/preload.tlr | asks "$named"
}
does_attach() { # to an interpreter, whose functions it exports
	inside "perl -e '\$x++ while 1' & host=\$!
		/opt/tailor/tailor attach --duration 2 -o /tmp/attach.tlr \$host
		status=\$?
		kill \$host
		exit \$status" && functions /tmp/attach.tlr | asks 'samples(f for f in functions if f["name"].startswith("Perl_")) >= 20'
}
does_inject() { # the agent comes by the host's own dlopen
	inside "luajit -e 'while true do end' & host=\$!
		sleep 0.2
		/opt/tailor/tailor attach --inject --duration 2 -o /tmp/inject.tlr \$host
		status=\$?
		grep -q libtailor.so /proc/\$host/maps || status=1
		kill \$host
		exit \$status"
}
# a library that a JIT loads by name; nothing of it is missing
does_intel() { ! inside "LD_BIND_NOW=1 LD_PRELOAD=/opt/tailor/libtailor-intel.so perl -e 0" 2>&1 | tee /dev/stderr | grep -q .; }
does_report() { inside "/opt/tailor/tailor report /tmp/run.tlr" | tee /dev/stderr | grep -q TRACE; }
does_html() {
	inside "/opt/tailor/tailor html -o /tmp/run.html /tmp/run.tlr" || return 1
	grep -q tailor-0-facts "$root/tmp/run.html"
}
does_serve() { # until it says where
	inside "/opt/tailor/tailor serve /tmp/run.tlr >/tmp/address 2>&1 & server=\$!
		until grep -q http://127 /tmp/address || ! kill -0 \$server 2>/dev/null; do sleep 0.1; done
		cat /tmp/address
		kill \$server" | tee /dev/stderr | grep -q '^http://127'
}

commands="doctor run preload attach inject intel report html serve"
[ -s "$B/page/head.html" ] || commands=${commands/html serve/}
bad=0
printf '%-10s %-6s' release glibc
# shellcheck disable=SC2086 # words
printf '%8s' $commands
echo
for release in ${DISTROS:-bullseye bookworm trixie testing}; do
	root=$roots/portable-$release
	if ! make_root >"$logs/$release-system" 2>&1; then
		echo "$release: the system cannot be made: $logs/$release-system"
		bad=1
		continue
	fi
	rm -rf --one-file-system "$root/opt/tailor"
	cp -r "$folder" "$root/opt/tailor"
	printf '%-10s %-6s' "$release" "$(inside 'ldd --version' | sed -n '1s/.* //p')"
	for command in $commands; do
		if "does_$command" >"$logs/$release-$command" 2>&1; then
			printf '%8s' ok
		else
			printf '%8s' FAILED
			bad=1
		fi
	done
	echo
done
[ $bad = 0 ] || echo "logs: $logs"
exit $bad
