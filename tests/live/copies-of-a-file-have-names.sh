#!/bin/bash
# SPDX-License-Identifier: MIT
# Files of one build id at two paths, as containers have copies of one image: functions of both have names, and stacks go on through both.
# Copies of a program, of a library, a program and its stripped copy, and the machine's libc in another root, while the whole machine is
# recorded.
. tests/live/begin.bash
pids=()
end() { [ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2>/dev/null; wait 2>/dev/null; pids=(); }
trap 'end; rm -rf "$dir"' EXIT
cat >"$dir/library.c" <<'C'
__attribute__((noinline)) int spin_here(int n) { volatile int x = n; for (int i = 0; i < 100000; i++) x = x * 3 + i; return x; }
__attribute__((noinline)) int call_it(int n) { return spin_here(n) + 1; }
C
cat >"$dir/program.c" <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
int call_it(int n);
int main(int argc, char **argv)
{
	void *library = argc > 1 && argv[1][0] == '/' ? dlopen(argv[1], RTLD_NOW) : 0;
	int (*call)(int) = library ? (int (*)(int))dlsym(library, "call_it") : 0;
	if (argc > 1 && !strcmp(argv[1], "libc"))
		for (unsigned long sum = 0;; sum += (unsigned long)random())
			if (sum == 7) abort();
	if (argc > 1 && argv[1][0] == '/' && !call) return 2;
	for (int n = 0;; n++) n += call ? call(n) : call_it(n);
}
C
mkdir "$dir/a" "$dir/b"
gcc -g -O1 -Wl,--build-id -o "$dir/a/program" "$dir/program.c" "$dir/library.c" -ldl &&
	gcc -g -O1 -fPIC -shared -Wl,--build-id -o "$dir/a/library.so" "$dir/library.c" || exit 1
cp "$dir/a/program" "$dir/a/library.so" "$dir/b" && cp "$dir/a/program" "$dir/other" && strip -o "$dir/stripped" "$dir/a/program" || exit 1

attach() { # SECONDS; the least samples of one of the processes are in $n
	timeout 300 "$B/tailor" attach -q -e "$(plain_event)" -o "$dir/t.tlr" --duration "$1" "${how[@]}" 2>"$dir/err" || {
		fail "tailor attach: exit $?: $(cat "$dir/err")"
		return 1
	}
	# (--budget: the whole machine may run programs that have as many names as they like)
	"$B/tailor" report --budget 100 --samples "$dir/t.tlr" >"$dir/samples" || { fail "tailor report: exit $?"; return 1; }
	n=$(for pid in "${pids[@]}"; do
		awk -F '\t' -v pid="$pid" '$2 == pid && $4 == "user"' "$dir/samples" | wc -l
	done | sort -n | head -1)
}
started() { # each has run for a while
	for pid in "${pids[@]}"; do
		[ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 3 ] || return 1
	done
}
# named WHERE NAME...: of each process nine of ten samples of user code are in functions of these names (regular expressions).
named() {
	wait_for started && gather 60 attach || return
	/usr/bin/python3 - "$dir" "$@" "${pids[@]}" <<'PYTHON' || fail "$1: functions have no names"
import csv, re, sys

folder, where, *names = sys.argv[1:]
pids = [n for n in names if n.isdigit()]
names = [n for n in names if not n.isdigit()]
rows = [r for r in csv.DictReader(open(f"{folder}/samples"), delimiter="\t", quoting=csv.QUOTE_NONE) if r["mode"] == "user"]
bad = 0
for pid in pids:
    mine = [r for r in rows if r["pid"] == pid]
    good = sum(any(re.fullmatch(n, r["function"]) for n in names) for r in mine)
    images = sorted({r["image"] for r in mine if any(re.fullmatch(n, r["function"]) for n in names)})
    print(f"{where}: {good} of {len(mine)} samples of a process are named, in {images}")
    bad |= 10 * good < 9 * len(mine)
sys.exit(bad)
PYTHON
}
complete() { # WHERE: nine of ten stacks reach main
	"$B/tailor" report --budget 100 "$dir/t.tlr" --view functions --json --top 0 | /usr/bin/python3 -c '
import json, sys

rows = [r for r in json.load(sys.stdin)["tables"]["functions"] if r["name"] == "main"]
total, paths = sum(r["total"] for r in rows), [r["path"] for r in rows]
print(f"{sys.argv[1]}: main is on {100 * total:.1f} % of the stacks, in {paths}")
sys.exit(len(rows) < 2 or total < 0.9)' "$1" || fail "$1: stacks end before main"
}

"$dir/a/program" & pids=($!)
"$dir/b/program" & pids+=($!)
how=("$(IFS=,; echo "${pids[*]}")")
named "copies of a program" spin_here call_it main && complete "copies of a program"
end
"$dir/a/program" "$dir/a/library.so" & pids=($!)
"$dir/a/program" "$dir/b/library.so" & pids+=($!)
how=("$(IFS=,; echo "${pids[*]}")")
named "copies of a library" spin_here call_it main
end
"$dir/stripped" & pids=($!)
"$dir/other" & pids+=($!)
how=("$(IFS=,; echo "${pids[*]}")")
named "a program and its stripped copy" spin_here call_it main
end
if [ "$(id -u)" = 0 ] && chroot / true 2>/dev/null; then
	mkdir "$dir/root"
	ldd "$dir/a/program" | grep -o '/[^ ]*' | while read -r file; do
		mkdir -p "$dir/root$(dirname "$file")" && cp -L "$file" "$dir/root$file"
	done
	cp "$dir/a/program" "$dir/root/program"
	if chroot "$dir/root" /program /none 2>/dev/null; [ $? = 2 ]; then # its libraries are there
		chroot "$dir/root" /program libc & pids=($!)
		"$dir/a/program" libc & pids+=($!)
		how=(--all)
		# random() calls functions of libc that have no name without libc's debug package
		named "the libc of another root" 'main|random@plt|[a-z_]*random[a-z_]*|.*lll_lock.*|libc\.so\.6\+0x.*'
		end
	fi
fi
finish
