#!/bin/bash
# SPDX-License-Identifier: MIT
# What others put at the path of our output, a FIFO without a reader or a link, is neither waited for nor followed, by any command; a file
# that is not ours stays; of two writers the second is told; an output is whole or not there, on a full disk and after a signal; and what
# holds what a trace holds is for its user alone, whatever the umask is.
# Rights: whose files can be written
. tests/live/begin.bash
umask 0
T=$dir/t.tlr
"$B/tailor" run -q --registers all -o "$T" -- "$B/hosts/busy" 300 >/dev/null
W=tests/golden/views/whatif.tlr
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

# A file that is not ours stays, whoever writes; --overwrite replaces it.  Ours is replaced.
rm -f "$at"
"$B/tailor" db add "$dir/s.tlrs" "$T" >/dev/null
stands() { [ "$(cat "$1")" = "precious" ] || fail "$2: expected the file to stay, got $(head -c 100 "$1")"; }
replaced=(
	"$B/tailor run -q -o \$at -- $B/hosts/busy 20"
	"$B/tailor record -q -o \$at -- $B/hosts/busy 20"
	"$B/tailor export --format csv -o \$at $T"
	"$B/tailor export --format pprof -o \$at.gz $T"
	"$B/tailor flamegraph -o \$at $T"
	"$B/tailor html -o \$at $T"
	"$B/tailor scrub -o \$at $T"
	"$B/tailor whatif --svg \$at $W"
	"$B/tailor whatif --cores 1 --keep \$at $W"
	"$B/tailor report --view memory --svg \$at $T"
	"$B/tailor report --view functions --csv=\$at.d $T"
	"$B/tailor overhead --rounds 1 --rates 1000 --svg \$at -- true"
	"$B/tailor check -o \$at -- $B/hosts/busy 20"
	"$B/tailor db copy $dir/s.tlrs \$at"
	"$B/tailor db export $dir/s.tlrs --format otlp -o \$at"
)
mkdir "$at.d"
for command in "${replaced[@]}"; do
	words=${command//\$at/$at}
	for file in "$at" "$at.gz" "$at.d/functions.csv"; do
		echo precious >"$file"
	done
	# shellcheck disable=SC2086 # words
	timeout "$PATIENCE_S" $words >"$dir/out" 2>"$dir/err" </dev/null && fail "$words: expected a failure over a file of others"
	grep -q 'exists.*give another name, or --overwrite' "$dir/err" || fail "$words: expected a sentence, got: $(head -n 3 "$dir/err")"
	for file in "$at" "$at.gz" "$at.d/functions.csv"; do
		stands "$file" "$words"
	done
	verb=${words#* }
	verb=${verb%% *}
	# shellcheck disable=SC2086
	timeout "$PATIENCE_S" ${words/ $verb / $verb --overwrite } >"$dir/out" 2>"$dir/err" </dev/null
	[ "$(grep -lx precious "$at" "$at.gz" "$at.d/functions.csv" | wc -l)" = 2 ] ||
		fail "$words: --overwrite does not write: $(head -n 3 "$dir/err")"
	case $words in
	*csv* | *pprof* | *otlp* | *"check -o"*) continue ;; # no mark; the status is what it found
	esac
	# shellcheck disable=SC2086
	timeout "$PATIENCE_S" $words >"$dir/out" 2>"$dir/err" </dev/null
	grep -q 'give another name' "$dir/err" && fail "$words: expected our own file to be replaced: $(head -n 3 "$dir/err")"
done
rm -rf "$at" "$at.gz" "$at.d"
echo precious >"$at"
in_time 1 "$B/tailor" watch -q --store "$at" -- touch "$dir/watched"
grep -q 'not a store of tailor' "$dir/err" || fail "watch --store over a file of others: expected a sentence, got: $(cat "$dir/err")"
[ ! -e "$dir/watched" ] || fail "watch --store over a file of others: expected its command not to run"
stands "$at" "watch --store"
rm -f "$at"

# Two recorders and one name: the second is told, and does not run its command.
mkfifo "$dir/go"
"$B/tailor" run -q -o "$at" -- sh -c "echo >'$dir/began'; read -r go <'$dir/go'" >/dev/null 2>"$dir/first" &
first=$!
for ((i = 0; i < 10 * PATIENCE_S; i++)); do [ -e "$dir/began" ] && break; sleep 0.1; done
in_time 1 "$B/tailor" run -q -o "$at" -- touch "$dir/second"
grep -q 'records into it; give another name' "$dir/err" || fail "a second recorder: expected a sentence, got: $(cat "$dir/err")"
[ ! -e "$dir/second" ] || fail "a second recorder: expected its command not to run"
echo >"$dir/go"
wait $first || fail "the first recorder: exit $?: $(cat "$dir/first")"
"$B/tailor" dump "$at" | grep -q '^.*END' || fail "the first recorder's trace has no end"
# A trace that is taken away meanwhile is told as well.
rm -f "$dir/began"
"$B/tailor" run -q -o "$at" -- sh -c "echo >'$dir/began'; read -r go <'$dir/go'" >/dev/null 2>"$dir/first" &
first=$!
for ((i = 0; i < 10 * PATIENCE_S; i++)); do [ -e "$dir/began" ] && break; sleep 0.1; done
rm -f "$at"
echo >"$dir/go"
wait $first
grep -q 'has removed or replaced this file while it was written' "$dir/first" || fail "a trace that was removed: $(cat "$dir/first")"

# SIGTERM and SIGKILL at any time leave nothing, or the whole output.  (Not by kill of a background job: a signal that comes before its exec
# has it run this shell's trap, which removes the folder.)
mkdir "$dir/killed"
for command in "flamegraph -o $dir/killed/out" "export -f folded -o $dir/killed/out" "scrub -o $dir/killed/out"; do
	rm -f "$dir/killed/out"
	# shellcheck disable=SC2086
	"$B/tailor" $command "$T" >/dev/null 2>&1 || fail "tailor $command: exit $?"
	whole=$(stat -c %s "$dir/killed/out")
	for signal in TERM KILL; do
		for wait_s in 0.001 0.005 0.01 0.02 0.04 0.08; do
			rm -f "$dir/killed/out"
			# shellcheck disable=SC2086
			timeout --foreground -s $signal $wait_s "$B/tailor" $command "$T" >/dev/null 2>&1
			[ -z "$(ls -A "$dir/killed")" ] || [ "$(ls -A "$dir/killed")$(stat -c %s "$dir/killed/out")" = "out$whole" ] ||
				fail "tailor $command, $signal: expected nothing or $whole bytes, got $(ls -lA "$dir/killed")"
		done
	done
done

# A full disk: the reason, nothing left, and the old file as it was.
mkdir "$dir/disk"
if mount -t tmpfs -o size=64k tmpfs "$dir/disk" 2>/dev/null; then
	at=$dir/disk/o
	trap 'umount "$dir/disk" 2>/dev/null; rm -rf "$dir"' EXIT
	head -c 65536 /dev/zero >"$dir/disk/fill"
	for command in "export -f csv -o $dir/disk/o $T" "flamegraph -o $dir/disk/o $T" "html -o $dir/disk/o $T" "scrub -o $dir/disk/o $T" \
		"whatif --svg $dir/disk/o $W" "db copy $dir/s.tlrs $dir/disk/o" "db export $dir/s.tlrs --format otlp -o $dir/disk/o.gz"; do
		# shellcheck disable=SC2086
		in_time 1 "$B/tailor" $command
		grep -Eq 'No space left on device|disk is full' "$dir/err" ||
			fail "tailor $command: a full disk: expected why, got: $(cat "$dir/err")"
		[ "$(ls -A "$dir/disk")" = fill ] || fail "tailor $command: a full disk: expected nothing, got $(ls -lA "$dir/disk")"
	done
	umount "$dir/disk"
	trap 'rm -rf "$dir"' EXIT
	at=$dir/at
else
	echo "no tmpfs may be mounted here: a full disk is left out"
fi

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
