#!/bin/bash
# SPDX-License-Identifier: MIT
# `make check` says what it would install before it does, once and with the command that does so by hand; it installs nothing, and says
# nothing, where nothing is missing; it asks nobody, as root or by sudo, and where neither will do it says who has to do what.
set -u
B=$(cd "$1" && pwd) || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "$@"; bad=1; }
mkdir "$dir/bin"
stub() { cat >"$dir/bin/$1" && chmod +x "$dir/bin/$1"; }
# A machine: which packages it has, who is asking, and what apt was told to do, with what had been said by then.
stub dpkg-query <<'END'
#!/bin/sh
for package; do :; done
! grep -qxF -e "$package" "$MACHINE/missing" && ! grep -qx all "$MACHINE/missing" && echo 'install ok installed'
END
stub apt-cache <<'END'
#!/bin/sh
[ "$2" = never-packaged ] || echo '  Candidate: 1.0'
END
stub apt-get <<'END'
#!/bin/sh
echo "$*" >>"$MACHINE/apt"
[ "$1" = update ] || { cp "$MACHINE/said" "$MACHINE/before"; : >"$MACHINE/missing"; }
END
stub id <<'END'
#!/bin/sh
cat "$MACHINE/uid"
END
stub sudo <<'END'
#!/bin/sh
[ "$1" != -n ] || shift
[ -e "$MACHINE/sudo" ] && { [ "$1" = true ] || echo "sudo $*" >>"$MACHINE/sudo"; exec "$@"; }
END
# asked UID MISSING SUDO COMMAND...: $status, and files of $dir; nothing can be typed
asked() {
	export MACHINE=$dir
	rm -f "$dir/apt" "$dir/before" "$dir/sudo"
	echo "$1" >"$dir/uid"
	printf '%s\n' $2 >"$dir/missing"
	[ "$3" = no ] || : >"$dir/sudo"
	shift 3
	PATH=$dir/bin:$PATH "$@" >"$dir/said" 2>&1 </dev/null
	status=$?
	touch "$dir/apt" "$dir/before"
}
expect() { # WHAT FILE TEXT
	[ "$(cat "$dir/$2")" = "$3" ] || fail "$1: expected in '$2': $3; got: $(cat "$dir/$2")"
}
sentence="make: Debian packages are missing, and are installed now; by hand, as root, it is:
    apt-get install --no-install-recommends"
by_apt="install -y -q --no-install-recommends"

asked 0 "" no tests/deps.sh one two
[ $status = 0 ] || fail "nothing is missing: expected exit 0, got $status"
expect "nothing is missing" said ""
expect "nothing is missing" apt ""

asked 0 "two four" no tests/deps.sh one two 'three|four' 'four|five' 'never-packaged?'
[ $status = 0 ] || fail "as root: expected exit 0, got $status"
expect "as root" before "$sentence two"
expect "as root" apt "$by_apt two"

asked 1000 "two four five" yes tests/deps.sh one two 'four|five'
[ $status = 0 ] || fail "with sudo: expected exit 0, got $status"
expect "with sudo" before "$sentence two four"
expect "with sudo" sudo "sudo apt-get $by_apt two four"

asked 1000 "two" no tests/deps.sh one two
[ $status = 1 ] || fail "without sudo: expected exit 1, got $status"
expect "without sudo" apt ""
grep -q '^    apt-get install --no-install-recommends two$' "$dir/said" ||
	fail "without sudo: expected the command, got: $(cat "$dir/said")"

# All that a check needs at once: one sentence, one installation.
asked 0 all no make -s B="$B" deps-check
[ $status = 0 ] && [ "$(grep -c 'are installed now' "$dir/before")" = 1 ] && [ "$(grep -c '^install' "$dir/apt")" = 1 ] ||
	fail "make deps-check: expected exit 0, one sentence and one installation, got $status: $(cat "$dir/said" "$dir/apt")"
for package in gcc esbuild libcmocka-dev; do
	grep -q " $package " "$dir/before" || fail "make deps-check: expected $package in: $(cat "$dir/before")"
done
[ $bad = 0 ] && echo "what is missing is named before it is installed"
exit $bad
