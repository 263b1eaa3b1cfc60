#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions have the names that their authors gave them: C++ is demangled (overloads are two functions), --no-demangle shows symbols,
# --function takes either; a symbol without a size does not swallow the code behind it, whatever kind of symbol that has, or none.
. tests/live/begin.bash
command -v g++ >/dev/null || skip "g++ is not installed"
cat >"$dir/host.cc" <<'END'
#include <cstdlib>
#include <ctime>

extern "C" void info_spin(long n);
extern "C" void (*hidden)(long n);

namespace shop {
struct order {
	volatile long total = 0;
	__attribute__((noinline)) void add(int n) { for (int i = 0; i < n; i++) total = total + i; }
	__attribute__((noinline)) void add(double n) { for (double i = 0; i < n; i++) total = total + 1; }
};
template <class T> __attribute__((noinline)) T spin(T n) { volatile T i = n; while (i > 0) i = i - 1; return i; }
}

// What a linker leaves of two functions that it folds into one, and what Rust's older scheme of names makes of two instances.
extern "C" __attribute__((noinline)) void encode(long n) { for (volatile long i = 0; i < n;) i = i + 1; }
extern "C" void checksum(long n) __attribute__((alias("encode")));
extern "C" void __encode(long n) __attribute__((alias("encode")));
__attribute__((noinline)) void small(long n) __asm__("_ZN6planet4each17h0123456789abcdefE");
__attribute__((noinline)) void large(long n) __asm__("_ZN6planet4each17hfedcba9876543210E");
void small(long n) { for (volatile long i = 0; i < n;) i = i + 2; }
void large(long n) { for (volatile long i = 0; i < n;) i = i + 1; }

int main(int, char **argv)
{
	const time_t end = time(nullptr) + atoi(argv[1]) + 1;
	shop::order o;

	while (time(nullptr) < end) {
		o.add(100000);
		o.add(100000.0);
		shop::spin<long>(100000);
		info_spin(200000);
		hidden(200000);
		encode(50000);
		checksum(50000);
		small(100000);
		large(100000);
	}
}
END
cat >"$dir/code.s" <<'END'
	.text
	.type sizeless, @function
sizeless:
	ret
	.p2align 4
	.globl info_spin
	.type info_spin, @object
info_spin:
	.cfi_startproc
1:	dec %rdi
	jnz 1b
	ret
	.cfi_endproc
	.size info_spin, .-info_spin
	.p2align 4
	.type before_hidden, @function
before_hidden:
	ret
	.p2align 4
.Lhidden:
	.cfi_startproc
1:	dec %rdi
	jnz 1b
	ret
	.cfi_endproc
	.p2align 4
	.data
	.globl hidden
hidden:	.quad .Lhidden
	.section .note.GNU-stack, "", @progbits
END
g++ -O1 -o "$dir/host" "$dir/host.cc" "$dir/code.s" || exit 1

record() {
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$dir/host" "$1" || { fail "tailor run: exit $?"; return 1; }
	names >"$dir/names"
	n=$(awk -F '\t' '{ n += $1 } END { print n + 0 }' "$dir/names")
}
names() { # OPTION... -> samples, name, mangled
	"$B/tailor" report --view functions --json "$@" "$dir/t.tlr" |
		/usr/bin/python3 -c 'import json, sys
for f in json.load(sys.stdin)["tables"]["functions"]:
	if f["image"] == "host": print(f["samples"], f["name"], f["mangled"], sep="\t")'
}
gather 500 record || finish
for wanted in 'shop::order::add(int)	_ZN4shop5order3addEi' 'shop::order::add(double)	_ZN4shop5order3addEd' \
	'shop::spin<long>(long)	_ZN4shop4spinIlEET_S1_' 'info_spin	None'; do
	cut -f2,3 "$dir/names" | grep -qxF "$wanted" || fail "report --view functions: expected '$wanted', got: $(cat "$dir/names")"
done
cut -f2 "$dir/names" | grep -qE '^\+0x[0-9a-f]+$' || fail "expected code without a symbol by its offset, got: $(cat "$dir/names")"
if grep -E 'sizeless|before_hidden' "$dir/names"; then fail "a symbol without a size has samples of the code behind it"; fi

# A row that stands for several functions says so, in the table, in JSON and in the report.
also() { "$B/tailor" report --view functions --json "$dir/t.tlr" | /usr/bin/python3 -c 'import json, sys
for f in json.load(sys.stdin)["tables"]["functions"]:
	if f.get("also"): print(f["name"], f["also"], sep="\t")'; }
also >"$dir/also"
grep -qE '^(encode	= checksum|checksum	= (__)?encode)$' "$dir/also" ||
	fail "expected that encode and checksum share their code, got: $(cat "$dir/also")"
grep -qxF 'planet::each	2 functions of this name' "$dir/also" || fail "expected that planet::each is two functions, got: $(cat "$dir/also")"
[ "$(wc -l <"$dir/also")" = 2 ] || fail "expected two rows that stand for several functions, got: $(cat "$dir/also")"
COLUMNS=200 "$B/tailor" report --view functions "$dir/t.tlr" | grep -q 'each .*2 functions of this name' ||
	fail "report --view functions: planet::each does not say that it is two functions"

# So does every other door, and names by which programs join stay as they are.
label=$(sed -n 's/\(encode\|checksum\)\t\(.*\)/\1 (\2)/p' "$dir/also")
says() { # DOOR TEXT: the text has both labels
	for wanted in "$label" 'planet::each (2 functions of this name)'; do
		grep -qF -- "$wanted" <<<"$2" ||
			fail "$1: expected '$wanted', got: $(grep -aoE '.{20}(encode|checksum|planet::each).{30}' <<<"$2" | head -5)"
	done
}
for format in folded flamegraph speedscope firefox perfetto pprof otlp; do
	"$B/tailor" export --format "$format" -o "$dir/t.$format" --overwrite "$dir/t.tlr" >/dev/null ||
		fail "export --format $format: exit $?"
	says "export --format $format" "$({ gzip -dc "$dir/t.$format" 2>/dev/null || cat "$dir/t.$format"; } | tr '\0' ' ')"
done
says top "$(COLUMNS=1000 "$B/tailor" top --once --json --rows 0 --by functions "$dir/t.tlr")"
says 'report --view callers' "$(COLUMNS=1000 "$B/tailor" report --view callers --top 0 "$dir/t.tlr")"
"$B/tailor" html -o "$dir/t.html" "$dir/t.tlr" 2>/dev/null && says html "$(facts "$dir/t.html")"
"$B/tailor" db add "$dir/s.tlrs" "$dir/t.tlr" >/dev/null || fail "db add: exit $?"
says 'db report' "$("$B/tailor" db report --view functions --top 0 --json "$dir/s.tlrs")"
says diff "$(COLUMNS=1000 "$B/tailor" diff --level function --all --json "$dir/t.tlr" "$dir/t.tlr")"
"$B/tailor" export --format csv -o "$dir/t.csv" --overwrite "$dir/t.tlr" >/dev/null
grep -qE ',"(encode|checksum)",' "$dir/t.csv" || fail "export --format csv: expected plain names"

names --no-demangle >"$dir/symbols"
cut -f2 "$dir/symbols" | grep -qxF _ZN4shop5order3addEi || fail "--no-demangle: expected a symbol, got: $(cat "$dir/symbols")"
if cut -f2 "$dir/symbols" | grep -F '::'; then fail "--no-demangle: a name is demangled"; fi

of() { names --function "$1" | awk -F '\t' '{ n += $1 } END { print n + 0 }'; }
both=$(of shop::order::add) one=$(of 'shop::order::add(int)') symbol=$(of _ZN4shop5order3addEi) other=$(of _ZN4shop5order3addEd)
[ "$one" -gt 0 ] && [ "$one" = "$symbol" ] && [ "$both" = $((one + other)) ] ||
	fail "--function: expected as many samples by name as by symbol, both overloads without parameters;" \
		"got $one, $symbol, $both ($other of the other)"
encode=$(of encode)
[ "$encode" -gt 0 ] && [ "$(of checksum)" = "$encode" ] && [ "$(of "$label")" = "$encode" ] ||
	fail "--function: expected $encode samples by either name of folded functions, and by the row's;" \
		"got $(of checksum), $(of "$label")"
finish
