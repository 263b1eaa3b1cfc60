#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified LLVM hosts of Debian, without any flag: of the samples that fall into JIT code at least 95 % carry a
# function's name, and, where the host emits line tables, a source line.
. tests/live/begin.bash
ran=0

check() { # NAME LINES(yes|no) COMMAND...
	name=$1 lines=$2
	shift 2
	"$@" >"$dir/alone.out" 2>"$dir/alone.err"
	alone=$?
	timeout 120 "$B/tailor" run -q -o "$dir/$name.tlr" -- "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	if [ $status != $alone ] || ! cmp -s "$dir/out" "$dir/alone.out"; then
		echo "$name: with the agent: exit $status, alone: exit $alone; outputs:"
		diff "$dir/alone.out" "$dir/out" | head -n 5
		cat "$dir/err"
		bad=1
		return
	fi
	"$B/tailor" report --json "$dir/$name.tlr" >"$dir/json" || { bad=1; return; }
	LINES_WANTED=$lines NAME=$name /usr/bin/python3 - "$dir/json" <<'PYTHON' || bad=1
import json, os, sys
r = json.load(open(sys.argv[1]))
jit, name = r["jit"], os.environ["NAME"]
n = jit["samples"]
named, lined = 100 * jit["named"] / max(n, 1), 100 * jit["with_lines"] / max(n, 1)
print(f"FIGURE {name}: {r['samples']['total']} samples, {n} in JIT code, {named:.2f} % named, {lined:.2f} % with a source line")
if n < 2000:
    sys.exit(f"{name}: expected at least 2000 samples in JIT code, got {n}")
if named < 95 or (os.environ["LINES_WANTED"] == "yes" and lined < 95):
    sys.exit(f"{name}: expected 95 % or more")
PYTHON
	ran=$((ran + 1))
}

if /usr/bin/python3 -c 'import numba' 2>/dev/null; then
	# Numba emits line tables only when it is asked to (NUMBA_DEBUGINFO=1): names without it, lines with it.
	check numba no /usr/bin/python3 tests/hosts/numba_host.py 2
	NUMBA_DEBUGINFO=1 check numba-debuginfo yes /usr/bin/python3 tests/hosts/numba_host.py 2
else
	echo "python3-numba is not here"
fi
if command -v lli-14 >/dev/null && ls "$B"/hosts/*.bc >/dev/null 2>&1; then
	for bc in "$B"/hosts/*.bc; do
		check "lli-$(basename "$bc" .bc)" yes lli-14 --jit-kind=mcjit "$bc"
	done
else
	echo "lli-14 is not here"
fi
[ $bad = 0 ] || exit 1
[ $ran -gt 0 ] && exit 0
echo "skipped, because neither Numba nor lli-14 is installed"
exit 77
