#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of a tree in which the agent cannot be loaded (behind bwrap and chroot, without the environment, static, of 32 bits): they print
# and return what they do alone, the loader's error does not reach their stderr, and the report says how many there are, which, and why.
. tests/live/begin.bash
chmod 755 "$dir"
busy=$B/hosts/busy

notices() { "$B/tailor" dump "$dir/t.tlr" | sed -n 's/.* NOTICE kind="host" sentence="\(agent unavailable in .*\)"$/\1/p'; }

# lost NAME PROGRAMS REASON COMMAND...: `busy`, which runs for longer and longer until the recorder has read the reason while it does.
lost() {
	local name=$1 programs=$2 reason=$3 millions=140 begin=$SECONDS alone status said
	local others="${2#*, }, ${2%%, *}" # of two, the one whose ring is drained first comes first
	shift 3
	"$@" 7 >"$dir/out.alone" 2>"$dir/err.alone"
	alone=$?
	[ $alone = 0 ] || { echo "$name: not tried, because it does not run here: $(tail -n 1 "$dir/err.alone")"; return; }
	while :; do
		timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$@" $millions >"$dir/out" 2>"$dir/err"
		status=$?
		cmp -s "$dir/err.alone" "$dir/err" && [ $status = $alone ] ||
			{ fail "$name: exit $status, else $alone; printed $(head -n 3 "$dir/err")"; return; }
		said=$(notices)
		case $said in
		*"($programs): $reason"* | *"($others): $reason"*) return ;;
		*"ended before the reason could be read"*) ;;
		*) fail "$name: expected \"($programs): $reason\", got \"$said\""; return ;;
		esac
		if [ $((SECONDS - begin)) -gt "$ENOUGH_S" ]; then
			undecided "$name: the recorder could not read the reason of $millions million rounds"
			return
		fi
		millions=$((2 * millions))
	done
}

lost "no environment" busy "no LD_PRELOAD in the environment" env -i "$busy"
lost "another network" busy "the recorder cannot be reached" unshare -rn "$busy"
[ ! -e "$busy-static" ] || lost static busy-static "statically linked" sh -c '"$@"; exit $?' sh "$busy-static"
[ ! -e "$busy-32" ] || lost "32 bits" busy-32 "not 64-bit x86" bash -c '"$@"; exit $?' bash "$busy-32"
cp "$busy" "$dir/program"
where="libtailor.so is not accessible in that root directory"
if command -v bwrap >/dev/null; then
	inside=(bwrap --ro-bind /usr /usr --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 --ro-bind "$dir/program" /program
		--proc /proc)
	lost bwrap program "$where" "${inside[@]}" /program
	lost "a shell in bwrap" "sh, program" "$where" "${inside[@]}" /usr/bin/sh -c '"$@"; exit $?' sh /program
fi

if [ "$(id -u)" = 0 ]; then
	root=$dir/root
	libraries=$(ldd "$B/hosts/executes" | grep -o '/[^ ]*')
	for file in $libraries "$(gcc -print-file-name=libm.so.6)"; do
		mkdir -p "$root$(dirname "$file")"
		cp -L "$file" "$root$file"
	done
	cp "$B/hosts/executes" "$busy" "$root/"
	lost chroot busy "$where" chroot "$root" /busy
	for before in "" "$(gcc -print-file-name=libm.so.6)"; do # the user's own, which can be loaded there
		export LD_PRELOAD=$before
		[ "$before" ] || unset LD_PRELOAD
		"$B/hosts/executes" "$root" /executes >"$dir/out.alone" 2>"$dir/err.alone"
		"$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/executes" "$root" /executes >"$dir/out" 2>"$dir/err"
		unset LD_PRELOAD
		cmp "$dir/out.alone" "$dir/out" || fail "what is executed sees something else: $(diff "$dir/out.alone" "$dir/out")"
		cmp "$dir/err.alone" "$dir/err" || fail "... on its other channel: $(head -n 3 "$dir/err")"
		[ "$(grep -c '^\[' "$dir/out")" = 9 ] || fail "expected 9 programs, got $(cat "$dir/out")"
	done
fi

# A block: a tree of programs, all with the agent.  It agrees, since each waits for its recorder.
heard() {
	"$B/tailor" run -q -o "$dir/t.tlr" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; env ls / | cat; done' >/dev/null
	[ -z "$(notices)" ] || { echo "programs with an agent: $(notices)"; return 1; }
}
decide "where all programs have the agent, no sentence says that some have not" heard
finish
