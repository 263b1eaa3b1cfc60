#!/bin/bash
# SPDX-License-Identifier: MIT
# Hosts that an adapter changes for itself see nothing of it: their environment and that of a program that they start, what they
# print on both channels, their exit status, and the files beside them.  The trace says what was done; --no-adapt does nothing.
. tests/live/begin.bash
B=$(cd "$B" && pwd)
cd "$dir" || exit 1
nr=0
touch begun
see="env | grep -vE '^(LD_PRELOAD|TAILOR_[A-Z_]*|_|SHLVL)=' | sort; ls"

cat >node.js <<END
const list = o => Object.keys(o).filter(k => !/^(LD_PRELOAD|TAILOR_)/.test(k)).sort().join(" ");
console.log(list(process.env), process.execArgv.join(" "), process.argv.length);
console.log(require("child_process").execSync(\`$see\`).toString());
console.error("on the other channel");
process.exit(23);
END
cat >lua.lua <<END
print(os.getenv("LUA_INIT"), jit.version, rawget(_G, "ffi"))
os.execute([[$see]])
io.stderr:write("on the other channel\n")
os.exit(23)
END
cat >php.php <<END
<?php
echo getenv("PHP_INI_SCAN_DIR") === false ? "unset" : "set", "\n";
passthru(<<<'SEE'
$see
SEE);
fwrite(STDERR, "on the other channel\n");
exit(23);
END
cat >Java.java <<END
public class Java {
	public static void main(String[] args) throws Exception {
		System.out.println(System.getenv("JAVA_TOOL_OPTIONS"));
		System.out.println(System.getProperty("java.class.path"));
		Process p = new ProcessBuilder("sh", "-c", args[0]).redirectErrorStream(true).start();
		System.out.print(new String(p.getInputStream().readAllBytes()));
		System.err.println("on the other channel");
		System.exit(23);
	}
}
END
cat >cs.cs <<END
using System;
class Program {
	static int Main(string[] args) {
		Console.WriteLine(Environment.GetEnvironmentVariable("MONO_ENV_OPTIONS") == null);
		var s = new System.Diagnostics.ProcessStartInfo("sh", "-c \"" + args[0] + "\"") { UseShellExecute = false };
		System.Diagnostics.Process.Start(s).WaitForExit();
		Console.Error.WriteLine("on the other channel");
		return 23;
	}
}
END

cat >py.py <<END
import os, subprocess, sys
print(os.environ.get("PYPYLOG"), sorted(os.listdir("/proc/self/fd")))
sys.stdout.flush()
subprocess.call(["sh", "-c", sys.argv[1]])
sys.stderr.write("on the other channel\n")
sys.exit(23)
END

cat >jsc.js <<'END'
print(readFile("/proc/self/status").match(/Pid/) != null, 6 * 7);
for (let i = 0, s = 0; i < 1e6; i++) s += i;
printErr("on the other channel");
quit(23);
END

check() { # NOTE COMMAND...
	note=$1
	shift
	command -v "$1" >/dev/null || { echo "$1 is not here"; return; }
	"$@" >../out.alone 2>../err.alone # not into the folder that the host lists
	alone=$?
	for how in "" --no-adapt; do
		timeout 300 "$B/tailor" run -q $how -o ../t.tlr -- "$@" >../out 2>../err
		status=$?
		if [ $status != $alone ] || ! cmp -s ../out ../out.alone || ! cmp -s ../err ../err.alone; then
			fail "tailor run $how -- $*: expected exit $alone and what it prints alone; got exit $status and:"
			diff ../out.alone ../out
			diff ../err.alone ../err
		fi
		"$B/tailor" dump ../t.tlr >../dump || fail "tailor run $how -- $*: the trace cannot be read"
		told=$(grep -c "NOTICE kind=\"host\" sentence=\"$note" ../dump)
		expected=1
		[ "$how" ] && expected=0
		[ "$told" = $expected ] || fail "tailor run $how -- $*: expected $expected notice \"$note\", got $told"
		nr=$((nr + 1))
		# files for perf of these processes, by number (and of no older ones that had it)
		for pid in $(sed -n 's|^[0-9.]* \([1-9][0-9]*\)/.*|\1|p' ../dump | sort -u); do
			left=$(find /tmp -maxdepth 1 -newer ../begun \
				\( -name "jit-$pid.dump" -o -name "jit-$pid-*.dump" -o -name "perf-$pid.map" \))
			[ -z "$left" ] || fail "tailor run $how -- $*: left behind: $left"
		done
	done
}
mkdir work
mv ./*.* work
cd work || exit 1
check V8: node node.js
check LuaJIT: luajit lua.lua
check PHP: php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M php.php
see="env | grep -v -e LD_PRELOAD -e TAILOR_ -e ^_= | sort; ls" # without a quote
# a script cannot see its environment: what is left of it when the host ends
cat >../environ.c <<'END'
#include <stdio.h>
#include <string.h>
extern char **environ;
__attribute__((destructor)) static void print(void)
{
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) != 0 && strncmp(*e, "TAILOR_", 7) != 0 && strncmp(*e, "_=", 2) != 0)
			fprintf(stderr, "%s\n", *e);
}
END
gcc -shared -fPIC -o ../environ.so ../environ.c || exit 1
command -v jsc >/dev/null &&
	check JavaScriptCore: sh -c 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec jsc jsc.js' "$dir/environ.so"
check PyPy: pypy3 py.py "$see"
check Python: /usr/bin/python3 py.py "$see"
erl='io:format("~p ~s", [os:getenv("ERL_FLAGS"), os:cmd("env | grep -v -e LD_PRELOAD -e TAILOR_ -e ^_= | sort; ls")]),'
machine=$(erl -noshell -eval 'io:format("~s", [os:getenv("BINDIR")]), halt().' 2>/dev/null)/beam.smp
if nm -D "$machine" 2>/dev/null | grep -q erts_frame_layout
then check Erlang: erl -noshell -eval "$erl"' io:format(standard_error, "on the other channel~n", []), halt(23).'
else echo "erl is not here, or its machine exports nothing (OTP 29)"; fi
cat >scm.scm <<END
(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2)))))
(display (f 25))
(newline)
(force-output)
(system "$see")
(display "on the other channel" (current-error-port))
(exit 23)
END
check Guile: guile --no-auto-compile scm.scm
cat >rb.rb <<END
def f(n) = n < 2 ? n : f(n - 1) + f(n - 2)
puts f(20), ENV["RUBYOPT"].inspect
system("$see")
STDERR.puts "on the other channel"
exit 23
END
ruby --yjit -e 1 2>/dev/null && { check Ruby: ruby --yjit rb.rb; check YJIT: ruby --yjit rb.rb; }
command -v javac >/dev/null && javac Java.java && check OpenJDK: java Java "$see"
command -v mcs >/dev/null && mcs cs.cs && check Mono: mono cs.exe "$see"
cat >rk.raku <<'END'
say %*ENV<MVM_JIT_PERF_MAP>:exists;
shell @*ARGS[0];
note "on the other channel";
exit 23;
END
check MoarVM: raku rk.raku "$see"
cat >repl.cc <<'END'
extern "C" int printf(const char *, ...); extern "C" int system(const char *); extern "C" int puts(const char *);
int shown = puts("on this channel");
END
cat >repl.sh <<'END'
clang-repl <repl.cc
env | grep -v -e LD_PRELOAD -e TAILOR_ -e ^_= | sort
END
command -v clang-repl >/dev/null && check LLVM: sh repl.sh
check PCRE2: grep -P '(on|the) +(?<!x)other' rb.rb
deno=$(echo "$B"/npm/node_modules/@deno/*/deno)
cat >deno.js <<'END'
console.log(Deno.env.get("DENO_V8_FLAGS"), Object.keys(Deno.env.toObject()).filter(k => !/^(LD_PRELOAD|TAILOR_)/.test(k)).sort());
console.log(new TextDecoder().decode(new Deno.Command("sh", { args: ["-c", Deno.args[0]] }).outputSync().stdout));
console.error("on the other channel");
Deno.exit(23);
END
[ -x "$deno" ] && check Deno: "$deno" run -A deno.js "$see"
[ $nr -gt 0 ] || skip "none of these hosts is installed"
[ $bad = 0 ] && echo "FIGURE $nr runs of adapted hosts, their output, status and environment unchanged"
finish
