#!/bin/bash
# SPDX-License-Identifier: MIT
# A function whose frame alone has 40 KiB, as a matrix product or a sort has, does not hide its callers at the defaults.  A copy that is too
# short is told of with the one size that is enough, if any is.
. tests/live/begin.bash

cat >"$dir/deep.c" <<'END_OF_C'
static volatile unsigned sum;
__attribute__((noinline)) static void work(void)
{
	for (unsigned i = 0; i < 200000000; i++)
		sum += i;
}
__attribute__((noinline)) static void kernel(void)
{
	volatile char packed[40 << 10];

	packed[0] = 1;
	work();
	packed[1] = packed[0];
}
__attribute__((noinline)) static void product(void)
{
	kernel();
	sum++;
}
int main(void)
{
	product();
	return 0;
}
END_OF_C
gcc -O1 -o "$dir/deep" "$dir/deep.c"

total() { # TRACE: percent of the samples that are below product()
	"$B/tailor" report --json --view functions "$1" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
print(int(sum(100 * r["total_share"] for r in rows if r.get("function") == "product")))'
}
"$B/tailor" run -q -r "$(allowed_rate 500)" -o "$dir/t.tlr" -- "$dir/deep"
bytes=$("$B/tailor" dump "$dir/t.tlr" | sed -n 's/.* stack_bytes=\([0-9]*\) .*/\1/p' | head -1)
[ "$bytes" -ge 49152 ] || { echo "skipped, because the rings here have room for $bytes stack bytes a sample (ulimit -l)"; exit 77; }
share=$(total "$dir/t.tlr")
[ "$share" -ge 95 ] || fail "product() is on every stack: expected at least 95 % at the defaults, got $share %"

"$B/tailor" run -q -r "$(allowed_rate 500)" --stack 16384 -o "$dir/t.tlr" -- "$dir/deep"
share=$(total "$dir/t.tlr")
[ "$share" -le 5 ] || fail "with --stack 16384, product() lies behind what is copied: expected at most 5 %, got $share %"
"$B/tailor" report --view callers "$dir/t.tlr" 2>&1 | tr '\n' ' ' | tr -s ' ' >"$dir/said"
grep -q 'longer than 16 KiB, which were recorded (--stack 65528)' "$dir/said" ||
	fail "expected the size that is enough (--stack 65528), got: $(cut -c1-800 "$dir/said")"
