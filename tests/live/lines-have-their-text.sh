#!/bin/bash
# SPDX-License-Identifier: MIT
# Beside a source line stands its text, to the byte: of C, JavaScript and Java by files of this machine, wherever --source-path says they
# are; of an engine's IR as it registered it.  A file that is newer than the program is said to be; one that is none, is too large or is no
# text is not read, and why is said.  A trace and a page have the text around hot lines when the file is gone, --source-text 0 keeps it
# out, and `tailor scrub` takes it out.
. tests/live/begin.bash
unset TAILOR_SOURCE_TEXT
src=$dir/src
mkdir "$src"
cat >"$src/spin.c" <<'EOF'
#include <stdlib.h>
#include <time.h>

static volatile double sum;

__attribute__((noinline)) static void spin(int n)
{
	for (int i = 1; i < n; i++)
		sum += 1.5 / i; /* "hot" <b>&amp; */
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + atoi(argv[argc - 1]) + 1;

	while (time(NULL) < end)
		spin(1000000);
}
EOF
gcc -g -O1 -o "$dir/spin" "$src/spin.c" || { fail "gcc: exit $?"; finish; }
hot='sum += 1.5 / i; /* "hot" <b>&amp; */'

record() { # TRACE FILE COMMAND... SECONDS: samples in lines of FILE
	"$B/tailor" run -q -e "$(plain_event)" -o "$1" -- "${@:3}" || { fail "tailor run: exit $?"; return 1; }
	n=$("$B/tailor" report --view lines --json --top 0 "$1" | /usr/bin/python3 -c 'import json, sys
print(sum(l["samples"] for l in json.load(sys.stdin)["tables"]["lines"] if l["file"].endswith(sys.argv[1])))' "$2")
}

# Each row with a line of the file has the text of that line of it; at least one has.
exact() { # VIEW KEY NAMED FILE TRACE OPTIONS...
	local view=$1 key=$2 named=$3 file=$4
	shift 4
	"$B/tailor" report --view "$view" --json --top 0 "$@" >"$dir/json" || fail "report --view $view: exit $?"
	/usr/bin/python3 - "$dir/json" "$view" "$key" "$named" "$file" <<'EOF' || fail "report --view $view $*: (above)"
import json, sys
path, view, key, named, file = sys.argv[1:]
lines = open(file).read().split("\n")
rows = [row for table in json.load(open(path))["tables"].values() for row in table if row.get("file", "") and row["file"].endswith(named)]
wrong = [row for row in rows if row.get(key, "") != lines[row["line"] - 1].strip()]
if wrong or not rows:
    sys.exit(f"{view}: expected the text of each line of {file}, got of {len(rows)} rows these others: {wrong[:5]}")
EOF
}
notes() {
	"$B/tailor" report --view lines --json "$@" | /usr/bin/python3 -c 'import json, sys
print(*json.load(sys.stdin).get("notes", []), sep="\n")'
}
says() { # WORDS TRACE OPTIONS...
	notes "${@:2}" >"$dir/notes"
	grep -qF -- "$1" "$dir/notes" || fail "report ${*:2}: expected '$1', got: $(cat "$dir/notes")"
}
says_not() { notes "${@:2}" | grep -F -- "$1" && fail "report ${*:2}: expected no sentence with '$1'"; }

# A long text is cut behind the line's place, so that both are seen.
{ sed '/{$/,$d' "$src/spin.c" | head -4; printf '__attribute__((noinline)) static void spin(int n) { for (int i = 1; i < n; i++) { '
	printf 'sum += 1.5 / i; %.0s' 1 2 3 4 5 6 7 8 9; echo '} }'; sed -n '/^int main/,$p' "$src/spin.c"; } >"$src/long.c"
gcc -g -O1 -o "$dir/long" "$src/long.c" || fail "gcc: exit $?"
gather 50 record "$dir/long.tlr" long.c "$dir/long" && {
	"$B/tailor" report "$dir/long.tlr" | grep -qE '^ *9[0-9]\.[0-9] % .*long\.c:[0-9]+  __attribute__' ||
		fail "report: expected the place before a long text: $("$B/tailor" report "$dir/long.tlr" | grep -A2 '^Source lines')"
}

gather 50 record "$dir/t.tlr" spin.c "$dir/spin" || finish
"$B/tailor" run -q -e "$(plain_event)" --source-text 0 -o "$dir/plain.tlr" -- "$dir/spin" 0
for trace in t plain; do
	exact lines text spin.c "$src/spin.c" "$dir/$trace.tlr"
	exact asm source_text spin.c "$src/spin.c" "$dir/$trace.tlr"
	exact callers text spin.c "$src/spin.c" "$dir/$trace.tlr"
	says_not newer "$dir/$trace.tlr"
done
COLUMNS=80 "$B/tailor" report --view lines "$dir/t.tlr" | grep -q 'sum += 1.5' || fail "report --view lines: expected the text in the table"
if "$B/tailor" html -o "$dir/t.html" "$dir/plain.tlr" 2>"$dir/said"; then
	"$B/tailor" html --source-text 0 -o "$dir/none.html" "$dir/plain.tlr" 2>/dev/null
	facts "$dir/t.html" >"$dir/facts"
	grep -qF 'sum += 1.5 / i; /* \"hot\"' "$dir/facts" || fail "html: expected the text of the hot line"
	facts "$dir/none.html" | grep -F 'sum += 1.5' && fail "html --source-text 0: expected no text"
elif ! grep -q 'this build has no page' "$dir/said"; then
	fail "tailor html: $(cat "$dir/said")"
fi

# newer, elsewhere, gone
touch -d '+1 minute' "$src/spin.c"
says "$src/spin.c is newer than the program" "$dir/plain.tlr"
mv "$src" "$dir/moved"
says "no source text: $src/spin.c is not on this machine" "$dir/plain.tlr"
exact lines text spin.c "$dir/moved/spin.c" "$dir/plain.tlr" --source-path "$src=$dir/moved"
exact lines text spin.c "$dir/moved/spin.c" "$dir/plain.tlr" --source-path /nowhere --source-path "$dir/moved"
exact lines text spin.c "$dir/moved/spin.c" "$dir/t.tlr"
"$B/tailor" dump "$dir/t.tlr" | grep SOURCE_LINES | grep -qF 'sum += 1.5' || fail "expected the hot line in the trace"
"$B/tailor" dump "$dir/plain.tlr" | grep SOURCE_LINES && fail "--source-text 0: expected no text in the trace"
"$B/tailor" scrub -o "$dir/s.tlr" "$dir/t.tlr" >/dev/null || fail "tailor scrub: exit $?"
"$B/tailor" dump --full "$dir/s.tlr" | grep -F 'sum += 1.5' && fail "tailor scrub: the text is still there (above)"
says '/spin.c is not on this machine' "$dir/s.tlr"
says_not newer "$dir/t.tlr"

# beside what the trace keeps nothing stands of a file that is another by now
mkdir "$src"
sed 's/1.5/2.5/; s/1000000/2000000/' "$dir/moved/spin.c" >"$src/spin.c"
"$B/tailor" report --view lines --json --top 0 "$dir/t.tlr" | grep -E '"text":.*(2\.5|2000000)' &&
	fail "lines of another file stand beside kept ones (above)"
rm "$src/spin.c"

# what lies there is none, or not for us
hostile() { # WORDS
	[ "$(timeout 60 "$B/tailor" report --view lines --view asm --json "$dir/plain.tlr" | grep -c "spin.c $1")" = 1 ] ||
		fail "expected 'spin.c $1', got: $(notes "$dir/plain.tlr")"
	rm -r "$src/spin.c"
}
mkfifo "$src/spin.c"
hostile 'is not on this machine'
mkdir "$src/spin.c"
hostile 'is not on this machine'
truncate -s 1G "$src/spin.c"
hostile 'is larger than 8 MiB'
head -c 3000 /bin/true >"$src/spin.c"
hostile 'is not text'
head -c 10 "$dir/moved/spin.c" >"$src/spin.c"
hostile 'has no such line'
{ for _ in 1 2 3 4 5 6 7; do echo; done; head -c 7000000 /dev/zero | tr '\0' x; printf '\n\033[31m\t\302\233x\n'; } >"$src/spin.c"
timeout 60 "$B/tailor" report --view lines --view asm --view callers "$dir/plain.tlr" >"$dir/text" || fail "a line of 7 MB: exit $?"
LC_ALL=C grep -q "$(printf '\033')" "$dir/text" && fail "a control character of a source file reached the terminal"
[ "$(wc -c <"$dir/text")" -lt 100000 ] || fail "a line of 7 MB: expected it to be cut"
"$B/tailor" html -o "$dir/t.html" "$dir/plain.tlr" 2>/dev/null && [ "$(facts "$dir/t.html" | wc -c)" -gt 3000000 ] &&
	fail "a line of 7 MB: expected it to be cut in the page"
rm -r "$src"

# hosts
if command -v node >/dev/null; then
	printf 'function spin(n) {\n\tlet s = 0;\n\tfor (let i = 0; i < n; i++)\n\t\ts += Math.sqrt(i); // hot\n\treturn s;\n}\n%s\n' \
		'const end = Date.now() + 1000 * process.argv[2];' 'do spin(3e6); while (Date.now() < end);' >"$dir/spin.js"
	gather 20 record "$dir/js.tlr" spin.js node "$dir/spin.js" && {
		exact lines text spin.js "$dir/spin.js" "$dir/js.tlr"
		"$B/tailor" report --view ir "$dir/js.tlr" | grep -q 's += Math.sqrt(i); // hot' ||
			fail "report --view ir: expected the script"
	}
fi
if command -v java javac >/dev/null; then
	mkdir -p "$dir/java/pkg" "$dir/classes"
	cat >"$dir/java/pkg/Spin.java" <<'EOF'
package pkg;

public class Spin {
	static double spin(int n) {
		double s = 0;
		for (int i = 0; i < n; i++)
			s += Math.sqrt(i); // hot
		return s;
	}
	public static void main(String[] a) {
		long end = System.currentTimeMillis() + 1000 * Long.parseLong(a[0]);
		do
			spin(3000000);
		while (System.currentTimeMillis() < end);
	}
}
EOF
	javac -g -d "$dir/classes" "$dir/java/pkg/Spin.java" &&
		gather 20 record "$dir/java.tlr" pkg/Spin.java java -cp "$dir/classes" pkg.Spin && {
		says 'no source text: pkg/Spin.java is not' "$dir/java.tlr"
		exact lines text pkg/Spin.java "$dir/java/pkg/Spin.java" "$dir/java.tlr" --source-path "$dir/java"
	}
fi
finish
