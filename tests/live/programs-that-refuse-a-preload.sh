#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that end when another library than their own is the first, that have another C library, privileges, or hardly any memory,
# exit and print under `tailor run` what they do alone: as its command, from a shell, from Python's subprocess, by name in PATH; from a
# shell and from Python that are preloaded as well.  The report says that they had no agent.
. tests/live/begin.bash
cat >"$dir/host.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	volatile unsigned sum = 0;
	char *copy = malloc(100);
	for (unsigned i = 0; i < 5000000; i++)
		sum += i;
	strcpy(copy, argc > 1 ? argv[1] : "nothing");
	printf("said %s\n", copy);
	free(copy);
	return 7;
}
END
mkdir "$dir/bin"
PATH=$dir/bin:$PATH
checked=0
as= # a command that makes another user run the rest
mkdir "$dir/theirs"
chmod 755 "$dir" "$dir/bin"
chmod 777 "$dir/theirs"
alone() { # COMMAND...
	$as timeout "$PATIENCE_S" "$@" >"$dir/alone" 2>"$dir/alone.err"
	alone=$?
}
compare() { # NAME HOW COMMAND...: with what it did alone
	local name=$1 how=$2 status
	shift 2
	$as timeout "$PATIENCE_S" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status = "$alone" ] && cmp -s "$dir/alone" "$dir/out" && cmp -s "$dir/alone.err" "$dir/err" ||
		fail "$name, $how: alone exit $alone and '$(cat "$dir/alone")', here exit $status and '$(cat "$dir/out" "$dir/err")'"
	checked=$((checked + 1))
}
check() { # NAME HOW COMMAND...
	alone "${@:3}"
	rm -f "$dir/theirs/t.tlr" # another user's is not overwritten
	compare "$1" "$2, tailor run" "$B/tailor" run -q -o "$dir/theirs/t.tlr" -- "${@:3}"
}
check_preloaded() { # NAME HOW COMMAND...: also where its first program is preloaded alone
	check "$@"
	# behind what is there, as tailor run has it
	compare "$1" "$2, LD_PRELOAD" env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$B/libtailor.so" \
		TAILOR_OUTPUT="$dir/theirs/$checked.tlr" "${@:3}"
}
every_way() { # NAME: of a program in $dir/bin
	[ "$($as "$1" words 2>/dev/null)" = "said words" ] || { echo "$1: not checked, it does not run here alone"; return; }
	check "$1" "the command" "$dir/bin/$1" words
	check "$1" "by its name" "$1" words
	check_preloaded "$1" "from a shell" sh -c "$1 words; exit \$?"
	check_preloaded "$1" "from Python" /usr/bin/python3 -c \
		"import subprocess, sys; sys.exit(subprocess.run(['$1', 'words']).returncode)"
	check "$1" "by execvp" /usr/bin/python3 -c "import os; os.posix_spawnp('$1', ['$1', 'words'], os.environ); print(os.wait()[1] >> 8)"
}
build() { # NAME COMPILER OPTION...
	local name=$1
	shift
	command -v "$1" >/dev/null || { echo "$name: not checked, there is no $1"; return; }
	"$@" -O1 -o "$dir/bin/$name" "$dir/host.c" 2>"$dir/err" ||
		{ echo "$name: not checked, it cannot be built: $(head -1 "$dir/err")"; return; }
	every_way "$name"
}
build asan gcc -fsanitize=address
# an empty entry of PATH is the current folder
for path in "" ":/nowhere" "/nowhere:" "/nowhere::/usr"; do
	[ ! -e "$dir/bin/asan" ] || check asan "in the current folder, by PATH=$path" \
		sh -c "cd '$dir/bin' && PATH=$path exec /usr/bin/env asan words"
done
"$B/tailor" run -q -o "$dir/t.tlr" -- "$dir/bin/asan" words >"$dir/out"
reasoned=$("$B/tailor" report "$dir/t.tlr" | tr '\n' ' ' | tr -s ' ')
[ ! -e "$dir/bin/asan" ] || grep -q 'AddressSanitizer ends a program whose first library is another one' <<<"$reasoned" ||
	fail "asan: expected that the report says why there was no agent, got: $reasoned"
build ubsan gcc -fsanitize=undefined
build tsan gcc -fsanitize=thread
build clang-asan clang -fsanitize=address
folder=$(dirname "$(clang -print-file-name=libclang_rt.asan-x86_64.so 2>/dev/null)" 2>/dev/null)
build clang-asan-shared clang -fsanitize=address -shared-libasan "-Wl,-rpath,$folder"
build clang-tsan clang -fsanitize=thread
build clang-msan clang -fsanitize=memory
build musl musl-gcc
build musl-static musl-gcc -static
build static gcc -static
build m32 gcc -m32

# what may be mapped is what the program maps alone
cat >"$dir/fills.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	int nr = 0;
	while (nr < 1000000 && malloc(65536))
		nr++;
	return printf("%d blocks\n", nr) < 0;
}
END
gcc -O1 -fno-builtin -o "$dir/bin/fills" "$dir/fills.c" || fail "fills cannot be built"
for limit in "-d 6000" "-v 20000"; do
	check_preloaded "ulimit -S$limit" "from a shell" bash -c "ulimit -S $limit; exec fills"
done
# a program that goes on under the limit that it has set itself: a shell, its subshell, Python
check_preloaded "ulimit -Sv 30000 and a large string" "the shell" bash -c 'ulimit -Sv 30000; printf -v x %4000000d 1; echo ${#x}'
check_preloaded "ulimit -Sv 30000 and a large string" "a subshell" \
	bash -c '(ulimit -Sv 30000; printf -v x %4000000d 1; echo ${#x}); ulimit -Sv; exit 3'
check_preloaded "resource.setrlimit and large bytes" "Python" /usr/bin/python3 -c "
import resource
before = int(open('/proc/self/statm').read().split()[0]) * 4096
log = 64 << 20 if 'libtailor' in open('/proc/self/maps').read() else 0
resource.setrlimit(resource.RLIMIT_AS, (before - log + (40 << 20), resource.RLIM_INFINITY))
print(len(bytearray(30 << 20)))"
check "setrlimit() without a limit" "the command" /usr/bin/python3 -c "
import ctypes, resource
print(ctypes.CDLL(None).setrlimit(resource.RLIMIT_AS, None))"
check_preloaded "RLIMIT_DATA" "from Python" /usr/bin/python3 -c "
import resource, subprocess
limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (6000000, resource.RLIM_INFINITY))
subprocess.run(['$dir/bin/fills'], preexec_fn=limit, check=True)"
"$B/tailor" run -q -o "$dir/t.tlr" -- bash -c 'ulimit -Sd 6000; fills; :' >/dev/null 2>&1
"$B/tailor" report "$dir/t.tlr" 2>&1 | tr '\n' ' ' | tr -s ' ' >"$dir/report"
grep -q 'limited to less than 64 MiB of address space or 32 MiB of data\|(fills): ended before' "$dir/report" ||
	fail "RLIMIT_DATA: expected that the report says why there was no agent, got: $(cat "$dir/report")"

# programs into which their user may not look
as="setpriv --reuid 65534 --regid 65534 --clear-groups"
if [ "$(id -u)" = 0 ] && $as test -r "$B/libtailor.so" 2>/dev/null && gcc -O1 -o "$dir/bin/setuid" "$dir/host.c"; then
	cp "$dir/bin/setuid" "$dir/bin/unreadable"
	cp "$dir/bin/setuid" "$dir/bin/capable"
	chmod 4755 "$dir/bin/setuid"
	chmod 711 "$dir/bin/unreadable"
	every_way setuid
	every_way unreadable
	if setcap cap_net_raw+ep "$dir/bin/capable" 2>/dev/null; then
		every_way capable
	else
		echo "file capabilities: not checked, setcap cannot give them"
	fi
else
	echo "setuid, unreadable, file capabilities: not checked, they need root, setpriv, gcc, and a library that others can read"
fi
as=

"$B/tailor" run -q --no-preload -o "$dir/t.tlr" -- /bin/sh -c 'echo "preloaded: $LD_PRELOAD"; exit 7' >"$dir/out" 2>&1
[ "$? $(cat "$dir/out")" = "7 preloaded: " ] || fail "--no-preload: expected exit 7 and no LD_PRELOAD, got: $(cat "$dir/out")"
runtime=$(gcc -print-file-name=libasan.so)
runtime=$(readlink -f "$runtime")
if [ -e "$runtime" ] && [ -e "$dir/bin/asan" ]; then
	export LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0
	check_preloaded "LD_PRELOAD of libasan" "the command" /usr/bin/python3 -c 'print("said words")'
	check_preloaded "LD_PRELOAD of libasan" "from a shell" sh -c '/usr/bin/python3 -c "print(1)"; exit 7'
	unset LD_PRELOAD ASAN_OPTIONS
fi
[ $checked -ge 5 ] || skip "no compiler here builds such a program"
echo "FIGURE $checked runs under tailor end as alone"
finish
