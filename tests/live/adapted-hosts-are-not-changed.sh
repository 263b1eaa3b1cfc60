#!/bin/bash
# SPDX-License-Identifier: MIT
# Hosts that an adapter changes for itself see nothing of it: their environment and that of a program that they start, what they
# print on both channels, their exit status, and the files beside them.  The trace says what was done; --no-adapt does nothing.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0 nr=0
touch "$dir/begun"
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
	"$@" >../out.alone.$$ 2>../err.alone.$$ # not into the folder that the host lists
	alone=$?
	for how in "" --no-adapt; do
		timeout 100 "$B/tailor" run -q $how -o "../t.$$.tlr" -- "$@" >../out.$$ 2>../err.$$
		status=$?
		if [ $status != $alone ] || ! cmp -s ../out.$$ ../out.alone.$$ || ! cmp -s ../err.$$ ../err.alone.$$; then
			echo "tailor run $how -- $*: expected exit $alone and what it prints alone; got exit $status and:"
			diff ../out.alone.$$ ../out.$$
			diff ../err.alone.$$ ../err.$$
			bad=1
		fi
		told=$("$B/tailor" dump "../t.$$.tlr" | grep -c "NOTICE kind=\"host\" sentence=\"$note")
		expected=1
		[ "$how" ] && expected=0
		[ "$told" = $expected ] || { echo "tailor run $how -- $*: expected $expected notice \"$note\", got $told"; bad=1; }
		nr=$((nr + 1))
	done
	dumps=$(find /tmp -maxdepth 1 \( -name 'jit-*.dump' -o -name 'perf-*.map' \) -newer "$dir/begun" -user "$(id -un)")
	[ -z "$dumps" ] || { echo "$*: left behind: $dumps"; bad=1; }
	rm -f ../t.$$.tlr ../out.$$ ../err.$$ ../out.alone.$$ ../err.alone.$$
}
mkdir work
mv ./*.* work
cd work || exit 1
check V8: node node.js
check LuaJIT: luajit lua.lua
check PHP: php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M php.php
see="env | grep -v -e LD_PRELOAD -e TAILOR_ -e ^_= | sort; ls" # without a quote
check JavaScriptCore: jsc jsc.js
check PyPy: pypy3 py.py "$see"
erl='io:format("~p ~s", [os:getenv("ERL_FLAGS"), os:cmd("env | grep -v -e LD_PRELOAD -e TAILOR_ -e ^_= | sort; ls")]),'
check Erlang: erl -noshell -eval "$erl"' io:format(standard_error, "on the other channel~n", []), halt(23).'
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
[ $nr -gt 0 ] || { echo "skipped, because none of these hosts is installed"; exit 77; }
echo "FIGURE $nr runs of adapted hosts, their output, status and environment unchanged"
exit $bad
