#!/bin/bash
# SPDX-License-Identifier: MIT
# Debug sections that are compressed, by zlib, zstd or as ".zdebug_*", say as much as others: lines, inlined functions, and where nothing
# else describes the frames (.debug_frame), complete stacks.  One that claims to be larger than memory ends in a sentence.
. tests/live/begin.bash
cat >"$dir/host.c" <<'END2'
#include <stdlib.h>
static volatile unsigned long x;
static inline __attribute__((always_inline)) void inlined_work(int i) { x += i * 7; }
static __attribute__((noinline)) void planted_work(void)
{
	for (int i = 0; i < 1000000; i++)
		inlined_work(i);
}
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		planted_work();
	return 0;
}
END2
record() { # SECONDS; the number of the program's samples
	"$B/tailor" run -q -e task-clock -r "$(allowed_rate 4000)" -o "$dir/t.tlr" -- "$dir/host" $((300 * $1)) || return 1
	n=$("$B/tailor" report --samples "$dir/t.tlr" | cut -f 8 | grep -c '/host$')
}
described() { # WHAT
	gather 100 record || return
	local all lines inlined complete
	all=$("$B/tailor" report --samples "$dir/t.tlr" | awk -F '\t' '$8 ~ /\/host$/ { n++ } END { print n }')
	lines=$("$B/tailor" report --samples "$dir/t.tlr" |
		awk -F '\t' '$8 ~ /\/host$/ && $10 ~ /host\.c:[1-9]/ { n++ } END { print n + 0 }')
	inlined=$("$B/tailor" export --overwrite --format folded -o "$dir/folded" "$dir/t.tlr" &&
		grep -c "planted_work;inlined_work" "$dir/folded")
	"$B/tailor" unwind --check "$dir/t.tlr" >"$dir/out" || fail "$1: unwind --check: $(cat "$dir/out")"
	complete=$(sed -n 's/^memo: \([0-9]*\) complete.*/\1/p' "$dir/out") n=$(sed -n 's/^\([0-9]*\) samples.*/\1/p' "$dir/out")
	echo "FIGURE $1: $lines of $all samples with a line, ${complete:-0} of $n stacks complete"
	[ $((100 * lines)) -ge $((98 * all)) ] && [ "$inlined" -gt 0 ] && [ $((100 * ${complete:-0})) -ge $((95 * n)) ] ||
		fail "$1: expected lines, inlined functions and stacks, got: $lines of $all, $inlined, $(head -3 "$dir/out")"
}
# (what every program is linked with has .eh_frame, its own functions have not)
gcc -O1 -g -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -o "$dir/plain" "$dir/host.c" || exit 1
for how in zlib zlib-gnu zstd; do
	if objcopy --compress-debug-sections=$how "$dir/plain" "$dir/host" 2>"$dir/errors"; then
		described $how
	else
		undecided "objcopy cannot: $(head -1 "$dir/errors")"
	fi
done

objcopy --compress-debug-sections=zlib "$dir/plain" "$dir/host" && /usr/bin/python3 - "$dir/host" <<'END2' || exit 1
import struct, sys
file = bytearray(open(sys.argv[1], "rb").read())
table, = struct.unpack_from("<Q", file, 40)
for i in range(struct.unpack_from("<H", file, 60)[0]):
    flags, _, offset = struct.unpack_from("<QQQ", file, table + 64 * i + 8)
    if flags & 0x800:
        struct.pack_into("<Q", file, offset + 8, 1 << 36)
open(sys.argv[1], "wb").write(file)
END2
record 1 2>"$dir/errors"
"$B/tailor" report "$dir/t.tlr" >/dev/null 2>"$dir/errors"
status=$?
[ $status = 1 ] && grep -q 'takes more memory than a file of its size should' "$dir/errors" ||
	fail "sections of 64 GiB: expected a sentence, got exit $status: $(cat "$dir/errors")"
finish
