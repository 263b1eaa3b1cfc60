#!/bin/bash
# SPDX-License-Identifier: MIT
# A preloaded agent whose recorder cannot start, or cannot make a log, tries it once for all that its process starts; and nothing that the
# recorder prints reaches the host's output, also where there is no /dev/null and no descriptor is left.
. tests/live/begin.bash
chmod 755 "$dir"
mkdir -m 777 "$dir/work"
cd "$dir/work" || exit 1
record=$B/tailor-record
cat >"$dir/counted" <<SH
#!/bin/sh
echo started >>"$dir/work/starts"
exec "\$RECORDER" "\$@"
SH
chmod 755 "$dir/counted"
tree='for i in 1 2 3; do /bin/true; sh -c "/bin/true; /bin/true"; done; exit 7'

# tree NAME PREFIX...: a tree of processes, with PREFIX in front of it
tree() {
	local name=$1 got starts
	shift
	rm -f starts tailor.*
	timeout "$PATIENCE_S" "$@" env LD_PRELOAD="$B/libtailor.so" TAILOR_COMMAND="$dir/counted" RECORDER="${RECORDER:-$record}" \
		TAILOR_OUTPUT="${OUTPUT:-}" sh -c "$tree" >"$dir/out" 2>"$dir/err"
	got=$?
	starts=$(cat starts 2>/dev/null | wc -l)
	[ $got = 7 ] && [ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] && [ "$starts" = 1 ] ||
		fail "$name: expected exit 7, no output and 1 start of the recorder, got exit $got, $starts starts and:" \
			"$(head -n 5 "$dir/out" "$dir/err")"
}
tree "a recorder that works"
RECORDER=/bin/false tree "a recorder that fails"
RECORDER=/no/such/recorder tree "no recorder"
OUTPUT=$dir tree "a trace that cannot be written"
somebody=
if [ "$(id -u)" = 0 ]; then
	uid=$((1000000000 + $$))
	setpriv --reuid $uid --clear-groups test -x "$record" 2>/dev/null && somebody="setpriv --reuid $uid --clear-groups"
fi
small='ulimit -f 64; exec "$@"'
tree "files of 64 KiB" bash -c "$small" sh
# shellcheck disable=SC2086 # words
[ -z "$somebody" ] || tree "files of 64 KiB, not as root" $somebody bash -c "$small" sh

# A log that cannot be made is a sentence in the trace: where the recorder alone may write just so much that the trace begins, and may not
# lift that limit.
cat >"$dir/counted" <<SH
#!/bin/sh
exec prlimit --fsize=69000:69000 "\$RECORDER" "\$@"
SH
if [ -n "$somebody" ]; then
	rm -f tailor.*
	# shellcheck disable=SC2086
	TAILOR_OUTPUT=t.tlr RECORDER=$record TAILOR_COMMAND=$dir/counted LD_PRELOAD=$B/libtailor.so \
		$somebody sh -c "/bin/true; /bin/true; exit 7" >"$dir/out" 2>"$dir/err"
	got=$?
	closed() { "$B/tailor" dump t.tlr 2>"$dir/dump.err" | grep -q ' END '; }
	wait_for closed || fail "a trace of at most 69000 bytes: $(cat "$dir/dump.err")"
	sentences=$("$B/tailor" dump t.tlr | grep -c 'NOTICE.*cannot create its log: limit of file sizes: ulimit -f')
	[ $got = 7 ] && [ "$sentences" = 1 ] && [ ! -s "$dir/err" ] ||
		fail "no log: expected exit 7 and one sentence in the trace, got exit $got, $sentences: $(cat "$dir/err")"
fi
# ... and by root, who may, the log is made.
if [ "$(id -u)" = 0 ]; then
	rm -f t.tlr
	TAILOR_OUTPUT=t.tlr LD_PRELOAD=$B/libtailor.so bash -c 'ulimit -f 1000; exec sh -c "/bin/true; exit 7"' >"$dir/out" 2>"$dir/err"
	closed() { "$B/tailor" dump t.tlr 2>"$dir/dump.err" | grep -q ' END '; }
	wait_for closed || fail "a trace of at most 1000 KiB: $(cat "$dir/dump.err")"
	"$B/tailor" dump t.tlr | grep -q ' GUEST ' || fail "files of 1000 KiB at most, as root: expected a log"
fi

# The recorder prints (it is told no event that there is); the host's output is the host's.
quiet() { # NAME COMMAND...
	local name=$1 got
	shift
	timeout "$PATIENCE_S" "$@" >"$dir/out" 2>"$dir/err"
	got=$?
	[ $got = 7 ] && [ "$(cat "$dir/out")" = host ] && [ ! -s "$dir/err" ] ||
		fail "$name: expected exit 7, 'host' and no message, got exit $got and: $(head -n 5 "$dir/out" "$dir/err")"
}
for event in no-such-event task-clock; do
	host="LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/work/t.tlr TAILOR_EVENT=$event exec sh -c 'echo host; exit 7'"
	quiet "$event, everything closed" bash -c "exec 0<&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; $host"
	for n in 4 5 6 7 8 9 10 12; do
		quiet "$event, $n descriptors" bash -c "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n $n; $host"
	done
	if unshare -m true 2>/dev/null; then
		quiet "$event, no /dev/null" unshare -m sh -c "mount -t tmpfs none /dev && $host"
	fi
done
finish
