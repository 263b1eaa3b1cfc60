#!/bin/bash
# SPDX-License-Identifier: MIT
# Hosts of versions that are newer than tailor knows, or without a part that is needed: what is missing and what helps is in the first three
# lines of `report`, `top` and `doctor`, in what `run`, `attach` and `watch` print, once, in the page, the JSON and the store; advice that
# cannot help is not given; and the host does what it does alone.
. tests/live/begin.bash
host=
trap 'kill -9 ${host:-} 2>/dev/null; rm -rf "$dir"' EXIT
event=$(plain_event)
NEWER="because it is newer than the version"

in_three_lines() { # NAME SENTENCE TEXT: whose lines are wide enough
	head -n 3 <<<"$3" | grep -qF "$2" || fail "$1: expected '$2' in the first three lines, got: $(head -n 5 <<<"$3")"
}
facts() { # NAME HOST VERSION: report's JSON has them as values
	timeout 300 "$B/tailor" report --json "$dir/t.tlr" | HOST=$2 VERSION=$3 /usr/bin/python3 -c '
import json, os, sys
r = json.load(sys.stdin)
found = [l for l in r["host_lacks"] if (l["host"], l["version"]) == (os.environ["HOST"], os.environ["VERSION"])]
kinds = [n["kind"] for n in r["notices"] if n["sentence"].startswith(os.environ["HOST"])]
complete = len(found) == 1 and all(found[0][k] for k in ("missing", "reason", "helps"))
sys.exit((not complete or kinds != ["version"]) and f"{found} {kinds}")' ||
		fail "$1: not in the JSON"
}
shown() { # NAME SENTENCE: of the trace
	local wide
	wide=$(COLUMNS=1000 "$B/tailor" report "$dir/t.tlr")
	in_three_lines "$1, report" "$2" "$wide"
	[ "$(grep -cF "$2" <<<"$wide")" = 1 ] || fail "$1: the report has the sentence more than once"
	in_three_lines "$1, top" "$2" "$(COLUMNS=1000 "$B/tailor" top --once --by functions "$dir/t.tlr")"
	"$B/tailor" top --once --json --by functions "$dir/t.tlr" | grep -qF "\"notes\":[\"$2" || fail "$1: not in the JSON of top"
	"$B/tailor" html -o "$dir/t.html" "$dir/t.tlr" 2>/dev/null
	SENTENCE=$2 /usr/bin/python3 - "$dir/t.html" <<'END' || fail "$1: not first in the page"
import base64, gzip, html, json, os, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
facts = json.loads(gzip.decompress(base64.b64decode(re.search('id="tailor-0-facts">([^<]*)<', page)[1])))
plain = html.unescape(re.search("<strong>([^<]*)</strong>", page)[1])
sys.exit(not all(text.startswith(os.environ["SENTENCE"]) for text in (facts["first"][0], plain)))
END
}
looked_at() { # NAME HOST VERSION MISSING HELPS [doctor]
	local program="$B/hosts/$1_of_tomorrow" sentence="$2 $3: $4 missing, $NEWER" alone status text
	alone=$("$program" 20 2>&1)
	status=$?
	"$B/tailor" run -e "$event" -o "$dir/t.tlr" -- "$program" 20 >"$dir/out" 2>"$dir/err"
	set -- "$1" "$2" "$3" "$4" "$5" "${6:-}" $?
	[ "$7" = $status ] && [ "$(cat "$dir/out")" = "$alone" ] ||
		fail "$1: expected exit $status and '$alone', got $7: $(cat "$dir/out" "$dir/err")"
	[ "$(grep -cF "tailor run: $sentence" "$dir/err")" = 1 ] || fail "$1: expected '$sentence' once, got: $(cat "$dir/err")"
	grep -F "tailor run: $sentence" "$dir/err" | grep -qF "). $5" || fail "$1: expected that '$5' helps, got: $(cat "$dir/err")"
	shown "$1" "$sentence"
	facts "$1" "$2" "$3"
	"$B/tailor" db add "$dir/$1.tlrs" "$dir/t.tlr" 2>"$dir/err" || fail "$1: db add: $(cat "$dir/err")"
	in_three_lines "$1, db report" "$sentence" "$(COLUMNS=1000 "$B/tailor" db report "$dir/$1.tlrs")"
	[ "$6" = doctor ] || return
	text=$("$B/tailor" doctor "$program" 20)
	in_three_lines "$1, doctor" "$2 $3" "$text"
	tr -s ' \n' '  ' <<<"$text" | grep -qF "$4 missing, $NEWER" || fail "$1: expected doctor to say what is missing, got: $text"
	grep -qF "remedy: $5" <<<"$text" || fail "$1: expected doctor's remedy '$5', got: $text"
}
looked_at cpython CPython 3.99.1 "names of Python functions are" "Run python with -X perf" doctor
looked_at duckdb DuckDB 9.9.1 "queries, pipelines and operators are" "EXPLAIN ANALYZE" doctor
looked_at sqlite SQLite 9.99.1 "statements and their instructions are" "sqlite3's .scanstats vm" doctor
looked_at ruby Ruby 9.9.1 "names of YJIT's code are" "YJIT of Ruby 3.1"
COLUMNS=1000 "$B/tailor" report "$dir/t.tlr" | grep -F 'ruby_of_tomorrow generated and did not name' | grep -qF 'not name. Run ruby' &&
	fail "ruby: the report advises what cannot help"

# a program that has SQLite inside, as Node has, need not use it
"$B/tailor" run -e "$event" -o "$dir/t.tlr" -- "$B/hosts/inside_of_tomorrow" 20 >"$dir/out" 2>"$dir/err"
"$B/tailor" doctor "$B/hosts/inside_of_tomorrow" >>"$dir/err"
grep -q 'SQLite 9' "$dir/err" && fail "SQLite inside of a program: expected no word of it, got: $(cat "$dir/err")"

# a library without one symbol, of a version that is not known by a number
"$B/tailor" run -e "$event" -o "$dir/t.tlr" -- "$B/hosts/luajit_of_tomorrow" 20 >"$dir/out" 2>"$dir/err"
shown luajit "LuaJIT: names of traces are missing, because its call that reads LUA_INIT was not found (verified: 2.1)"

"$B/tailor" run -e "$event" -o "$dir/t.tlr" -- "$B/hosts/php_of_tomorrow" 20 >"$dir/out" 2>"$dir/err"
shown php "PHP: names of compiled functions are missing, because its settings are in no text that is known (verified: 8.2 to 8.6)"
"$B/tailor" run -e "$event" -o "$dir/t.tlr" -- "$B/hosts/erlang_of_tomorrow" 20 >"$dir/out" 2>"$dir/err"
shown erlang "Erlang: names of generated code are missing, because it registers its code in a form that is not known (verified: 25 to 27)"

end_host() { # as it ends alone
	kill -TERM $host
	wait $host
	[ $? = 7 ] && [ "$(cat "$dir/out")" = enough ] || fail "attached: $(cat "$dir/out")"
	host=
}

# from outside: no way of recording is advised, as for versions that are known
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$host/status"; }
burns() { [ "$(awk '{ print $14 }' /proc/$host/stat)" -ge 10 ] || ended; }
from_outside() { # NAME OPTION...: attach
	local name=$1 sentence="CPython 3.99.1: names of Python functions are missing, $NEWER"
	shift
	timeout 300 "$B/tailor" attach "$@" -e "$event" -d 0.3 -o "$dir/t.tlr" $host 2>"$dir/err" || fail "$name: $(cat "$dir/err")"
	[ "$(grep -cF "tailor attach: $sentence" "$dir/err")" = 1 ] || fail "$name: expected '$sentence' once, got: $(cat "$dir/err")"
	grep -q 'unavailable' "$dir/err" && fail "$name: expected no advice that cannot help, got: $(cat "$dir/err")"
	shown "$name" "$sentence"
}
"$B/hosts/cpython_of_tomorrow" 0 >"$dir/out" 2>&1 &
host=$!
wait_for burns
from_outside attach
from_outside "attach --inject" --inject
in_three_lines "doctor of a process" "CPython 3.99.1" "$("$B/tailor" doctor $host)"
timeout 300 "$B/tailor" watch -e "$event" --epochs 1s -d 3 --store "$dir/w.tlrs" $host >"$dir/said" 2>&1
[ "$(grep -c "CPython 3.99.1: .* are missing" "$dir/said")" = 1 ] || fail "watch: expected the sentence once, got: $(cat "$dir/said")"
in_three_lines "watch's store" "CPython 3.99.1: names" "$(COLUMNS=1000 "$B/tailor" db report "$dir/w.tlrs")"
"$B/tailor" db trace "$dir/w.tlrs" -o "$dir/t.tlr" --overwrite >/dev/null 2>"$dir/err" || fail "db trace: $(cat "$dir/err")"
facts "epochs as one trace" CPython 3.99.1
end_host
"$B/hosts/openjdk_of_tomorrow" 0 >"$dir/out" 2>&1 &
host=$!
wait_for burns
timeout 300 "$B/tailor" attach -e "$event" -d 0.3 -o "$dir/t.tlr" $host 2>"$dir/err" || fail "attach to a JVM: $(cat "$dir/err")"
shown openjdk "OpenJDK: names of compiled Java methods are missing, because its memory has no layout that is known, and it writes no"
end_host

# Spark's class of texts, without the field that has them
if ! command -v javac >/dev/null; then
	echo "not tried, because javac is missing: Spark"
	finish
fi
package=org/apache/spark/sql/catalyst/expressions/codegen
mkdir -p "$dir/$package"
printf 'package %s;\npublic class CodeAndComment { public String text = "other"; }\n' ${package//\//.} >"$dir/$package/CodeAndComment.java"
cat >"$dir/Tomorrow.java" <<'JAVA'
public class Tomorrow {
	static Object kept = new org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment();
	public static void main(String[] args) {
		long x = kept.hashCode();
		for (long i = 0; i < 300_000_000L; i++)
			x = x * 31 + i;
		System.out.println(x != 0);
	}
}
JAVA
javac -d "$dir" "$dir/$package/CodeAndComment.java" && javac -cp "$dir" -d "$dir" "$dir/Tomorrow.java" || exit 1
"$B/tailor" run --spark -e "$event" -o "$dir/t.tlr" -- java -Xmx64m -cp "$dir" Tomorrow >"$dir/out" 2>"$dir/err"
[ "$(cat "$dir/out")" = true ] || fail "spark: $(cat "$dir/out" "$dir/err")"
shown spark "Spark: lines of generated code are missing, because its class CodeAndComment has no field body (verified: 4.0)"
finish
