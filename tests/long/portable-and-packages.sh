#!/bin/bash
# SPDX-License-Identifier: MIT
# make portable runs on a bare Debian 12, made by debootstrap, with none of the libraries that tailor needs (on other releases: make
# check-portable); make deb builds packages that install there and work.
set -u
B=$1
[ "$(id -u)" = 0 ] || { echo "skipped, because only root can change its root"; exit 77; }
command -v debootstrap >/dev/null || { echo "skipped, because there is no debootstrap"; exit 77; }
tests/hosts/build.sh "$B" || exit 1
dir=$(mktemp -d)
root=$dir/root
clean_up() {
	umount "$root/proc" 2>/dev/null
	rm -rf --one-file-system "$dir"
}
trap clean_up EXIT
bad=0
fail() { echo "$@"; bad=1; }
unset MAKEFLAGS MAKELEVEL
if ! debootstrap --variant=minbase bookworm "$root" >"$dir/log" 2>&1; then
	tail -n 3 "$dir/log"
	echo "skipped, because no Debian can be fetched"
	exit 77
fi
mount -t proc proc "$root/proc" || exit 1
cp "$B/hosts/unloads" "$root/opt/"
inside() { timeout 120 chroot "$root" "$@"; }
named() { # nearly all samples of generated code have a function
	/usr/bin/python3 -c 'import json, sys; j = json.load(sys.stdin)["jit"]; sys.exit(j["named"] < max(1, 0.9995 * j["samples"]))'
}
records() { # NAME TAILOR LIBTAILOR
	inside "$2" run -o /tmp/t.tlr -- /opt/unloads 1000 0.5 >"$dir/out" 2>&1 || fail "$1: run: exit $?: $(cat "$dir/out")"
	inside "$2" report --json /tmp/t.tlr >"$dir/out" 2>&1 || fail "$1: report: $(cat "$dir/out")"
	named <"$dir/out" || fail "$1: names are missing: $(cat "$dir/out")"
	inside env LD_PRELOAD="$3" TAILOR_OUTPUT=/tmp/p.tlr /opt/unloads 1000 0.5 >"$dir/out" 2>&1 ||
		fail "$1: preloaded: $(cat "$dir/out")"
	for _ in $(seq 100); do inside "$2" dump /tmp/p.tlr 2>/dev/null | grep -q ' END ' && break; sleep 0.1; done
	inside "$2" report --json /tmp/p.tlr | named || fail "$1: preloaded: no trace, or no names in it"
	inside "$2" doctor >"$dir/out" 2>&1 || fail "$1: doctor: $(cat "$dir/out")"
	if command -v esbuild >/dev/null; then
		inside "$2" html -o /tmp/t.html /tmp/t.tlr >"$dir/out" 2>&1 && grep -q tailor-0-facts "$root/tmp/t.html" ||
			fail "$1: html: $(cat "$dir/out")"
	fi
}
serves() { # NAME TAILOR
	[ -e /usr/include/microhttpd.h ] && command -v esbuild >/dev/null || return 0
	timeout 120 chroot "$root" "$2" serve /tmp/t.tlr >"$dir/address" 2>"$dir/out" &
	until grep -q '^http://127' "$dir/address" || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
	kill $! 2>/dev/null
	wait $! || fail "$1: serve: exit $?: $(cat "$dir/out")"
	grep -q '^http://127' "$dir/address" || fail "$1: serve: no address"
}

make -s -o "$B/libtailor.so" B="$B" portable >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
inside dpkg -l | grep -E 'libdw|libunwind|libpfm|libmsgpack|libjansson|libzydis' && fail "the root is not bare"
cp -r "$B"/tailor-*-x86_64 "$root/srv/anywhere"
records portable /srv/anywhere/tailor /srv/anywhere/libtailor.so
serves portable /srv/anywhere/tailor
needed=$(readelf -d "$root/srv/anywhere/tailor-record" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm)\.so')
[ -z "$needed" ] || fail "portable: tailor-record, which starts with every preloaded program, needs $needed"
# it alone records, too: an agent needs no more beside it
mv "$root/srv/anywhere/tailor" "$root/srv/tailor" && cp -r "$root/srv/anywhere/lib" "$root/srv/lib"
rm -f "$root/tmp/p.tlr"
inside env LD_PRELOAD=/srv/anywhere/libtailor.so TAILOR_OUTPUT=/tmp/p.tlr /opt/unloads 1000 0.5 >"$dir/out" 2>&1 ||
	fail "tailor-record alone: $(cat "$dir/out")"
for _ in $(seq 100); do inside /srv/tailor dump /tmp/p.tlr 2>/dev/null | grep -q ' END ' && break; sleep 0.1; done
inside /srv/tailor report --json /tmp/p.tlr | named || fail "tailor-record alone: no trace, or no names in it"
rm -rf "$root/srv/anywhere" "$root/srv/tailor" "$root/srv/lib"

make -s B="$B" deb >"$dir/log" 2>&1 || { tail -n 40 "$dir/log"; exit 1; }
ls "$B"/deb/*.dsc "$B"/deb/*.orig.tar.* "$B"/deb/*.debian.tar.* >/dev/null || fail "there is no source package"
cp "$B"/deb/tailor_*.deb "$B"/deb/libjitreg-dev_*.deb "$root/tmp/"
inside sh -c 'apt-get install -y --no-install-recommends /tmp/*.deb' >"$dir/log" 2>&1 || { tail -n 20 "$dir/log"; exit 1; }
records package /usr/bin/tailor /usr/lib/tailor/libtailor.so
inside test -f /usr/include/jitreg.h || fail "no header in the package"
for f in bash-completion/completions/tailor zsh/vendor-completions/_tailor; do
	inside test -f /usr/share/$f || fail "no /usr/share/$f in the package"
done
inside apt-get remove -y tailor libjitreg-dev >"$dir/log" 2>&1 || fail "the packages cannot be removed: $(tail -n 5 "$dir/log")"
exit $bad
