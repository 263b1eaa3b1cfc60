#!/bin/bash
# SPDX-License-Identifier: MIT
# What others put at the path of our output, a FIFO without a reader or a link, is neither waited for nor followed, by any command; and
# what holds what a trace holds is for its user alone, whatever the umask is.
# Rights: whose files can be written
. tests/live/begin.bash
umask 0
T=$dir/t.tlr
"$B/tailor" run -q --registers all -o "$T" -- "$B/hosts/busy" 300 >/dev/null
"$B/hosts/busy" 20 >/dev/null
alone=$? # the host's own status

# What writes to $at, and its exit status when it may not.
commands=(
	"1 $B/tailor run -q -o \$at -- $B/hosts/busy 20"
	"1 $B/tailor export --format folded -o \$at $T"
	"1 $B/tailor export --format csv -o \$at $T"
	"1 $B/tailor scrub -o \$at $T"
	"1 $B/tailor whatif --svg \$at tests/golden/views/whatif.tlr"
	"1 $B/tailor report --view memory --svg \$at $T"
	"1 $B/tailor overhead --rounds 1 --rates 1000 --svg \$at -- true"
	"$alone env LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=\$at $B/hosts/busy 20"
)
in_time() { # STATUS COMMAND...: its exit status, and it does not hang
	local expected=$1 got
	shift
	timeout "$PATIENCE_S" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	got=$?
	[ $got = "$expected" ] || fail "$*: expected exit $expected, got $got: $(head -n 3 "$dir/err")"
	[ "$expected" != 1 ] || [ "$(grep -c "$at" "$dir/err")" = 1 ] ||
		fail "$*: expected one sentence about $at, got: $(head -n 5 "$dir/err")"
}
at=$dir/at
for command in "${commands[@]}"; do
	read -r status words <<<"$command"
	words=${words//\$at/$at}
	rm -f "$at" "$dir/precious"
	mkfifo -m 666 "$at"
	# shellcheck disable=SC2086 # words
	in_time "$status" $words
	[ -p "$at" ] || fail "$words: expected the FIFO to stay"
	rm -f "$at"
	ln -s "$dir/precious" "$at"
	# shellcheck disable=SC2086
	in_time "$status" $words
	[ -L "$at" ] && [ ! -e "$dir/precious" ] || fail "$words: expected the link to stay, and nothing behind it"
	[ "$status" = 1 ] || continue # of the host the rest is known: its recorder is that of tailor run
	rm -f "$at"
	touch "$at"
	chmod 666 "$at"
	# shellcheck disable=SC2086
	timeout "$PATIENCE_S" $words >"$dir/out" 2>"$dir/err" </dev/null
	[ "$(stat -c '%a %F' "$at")" = "600 regular file" ] && [ -s "$at" ] ||
		fail "$words: expected a file of mode 600, got $(stat -c '%a %F, %s bytes' "$at"): $(head -n 3 "$dir/err")"
done

# The name that a preloaded recorder chooses by itself can be guessed: its host's PID is in it.
mkdir "$dir/folder"
(
	cd "$dir/folder" || exit 1
	mkfifo "tailor.$BASHPID.tlr"
	LD_PRELOAD=$B/libtailor.so exec timeout --foreground "$PATIENCE_S" true
) || fail "a preloaded host in a folder with a FIFO of its recorder's name: expected exit 0, got $?"

# A reader that does not read holds nobody up either.
rm -f "$at"
mkfifo "$at"
sleep 1000 <>"$at" &
reader=$!
in_time "$alone" "$B/tailor" run --no-compress -q -r 20000 --registers all -o "$at" -- "$B/hosts/busy" 300
grep -q 'the command was not affected' "$dir/err" || fail "a FIFO that is full: expected a sentence, got: $(cat "$dir/err")"
kill $reader
exec 2>/dev/null
wait $reader
finish
