#!/bin/bash
# SPDX-License-Identifier: MIT
# Go programs by the table of functions that each of them has, whether stripped or not, position-independent, with C code beside it: nearly
# every sample has a function and a line, those that `go tool addr2line` says, and nearly every stack its root.
. tests/live/begin.bash
stacks=65528 # a function of esbuild's parser has a frame of 8 KB, and calls itself
record() { # SECONDS COMMAND...; the number of the program's samples, those with a name and those with a line
	local seconds=$1 program image
	shift
	program=("${@//SECONDS/$seconds}") image=$(basename "${image_of:-$1}")
	"$B/tailor" run -q -e task-clock -r "$(allowed_rate 2000)" --stack $stacks -o "$dir/t.tlr" -- "${program[@]}" \
		>/dev/null 2>"$dir/errors" ||
		{ fail "tailor run -- ${program[*]}: exit $?: $(cat "$dir/errors")"; return 1; }
	"$B/tailor" report --samples "$dir/t.tlr" | awk -F '\t' -v image="$image" '{ n = split($8, part, "/") }
		part[n] == image { all++; named += $9 != image && $9 !~ /\+0x/; lines += $10 ~ /:[1-9]/ }
		END { print all + 0, named + 0, lines + 0 }' >"$dir/counts"
	read -r n named lines <"$dir/counts"
}
go_program() { # WHAT COMMAND...
	local what=$1
	shift
	gathering() { record "$1" "${command[@]}"; }
	command=("$@")
	gather 200 gathering || return
	"$B/tailor" unwind --check "$dir/t.tlr" >"$dir/out" || fail "$what: unwind --check: $(cat "$dir/out")"
	stacks_all=$(sed -n 's/^\([0-9]*\) samples.*/\1/p' "$dir/out") complete=$(sed -n 's/^memo: \([0-9]*\) complete.*/\1/p' "$dir/out")
	echo "FIGURE $what: $named of $n samples named, $lines with a line, ${complete:-0} of $stacks_all stacks complete"
	[ $((100 * named)) -ge $((95 * n)) ] && [ $((100 * lines)) -ge $((95 * n)) ] &&
		[ $((100 * ${complete:-0})) -ge $((95 * stacks_all)) ] || fail "$what: expected 95 % of each"
}

if ESBUILD=$(command -v esbuild) && [ "$(head -c 4 "$ESBUILD" | tail -c 3)" = ELF ]; then
	for ((i = 0; i < 20000; i++)); do
		echo "export function f$i(a, b) { for (let i = 0; i < a; i++) if (b > i) return f$((i * 7 % 20000))(i, b); return [a] }"
	done >"$dir/big.js"
	cat >"$dir/bundle" <<'END2'
#!/bin/bash
for ((i = 0; i < $1; i++)); do esbuild --bundle --minify --outfile=/dev/null "$2" 2>/dev/null; done
END2
	chmod +x "$dir/bundle"
	image_of=$ESBUILD go_program esbuild "$dir/bundle" SECONDS "$dir/big.js"
else
	undecided "esbuild is not here"
fi

command -v go >/dev/null || { undecided "go is not here"; finish; }
cat >"$dir/hot.go" <<'END2'
package main

import (
	"os"
	"strconv"
	"time"
)

func step(n uint64) uint64 { // is inlined
	if n%2 == 0 {
		return n / 2
	}
	return 3*n + 1
}

//go:noinline
func collatz(n uint64) int {
	s := 0
	for n != 1 {
		n = step(n)
		s++
	}
	return s
}

//go:noinline
func sum(m map[int]int) int {
	s := 0
	for k, v := range m {
		s += k * v
	}
	return s
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	m := map[int]int{}
	for i := 0; i < 1000; i++ {
		m[i] = i
	}
	t := 0
	for end := time.Now().Add(time.Duration(seconds) * time.Second / 2); time.Now().Before(end); {
		for i := uint64(1); i < 3000; i++ {
			t += collatz(i)
		}
		for i := 0; i < 20; i++ {
			t += sum(m)
		}
	}
	os.Exit(t & 0)
}
END2
export GOFLAGS=-mod=mod GO111MODULE=off
build() { # PROGRAM GO'S-OPTIONS...
	(cd "$dir" && go build -o "$@" hot.go) || fail "go build $*"
}
build default
build stripped -ldflags="-s -w"
build position-independent -buildmode=pie -ldflags="-s -w"
/usr/bin/python3 - "$dir/stripped" "$dir/without-sections" <<'END2' && chmod +x "$dir/without-sections" || exit 1
import struct, sys
file = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<Q", file, 40, 0)
struct.pack_into("<HHH", file, 58, 0, 0, 0)
open(sys.argv[2], "wb").write(file)
END2
for program in default stripped position-independent without-sections; do
	go_program $program "$dir/$program" SECONDS
	"$B/tailor" export --overwrite --format folded -o "$dir/folded" "$dir/t.tlr" &&
		grep -q '^runtime.goexit[.abi0]*;runtime.main;main.main;main.collatz;main.step' "$dir/folded" ||
		fail "$program: expected main.step inlined into main.collatz, called by main.main, got: $(grep -m 3 collatz "$dir/folded")"
done
# Go's compiler takes the profile of another program, for which each function needs the file and line of its declaration.  Go before 1.20
# takes none, and writes no such lines into its table.
takes_the_profile() {
	record 1 "$dir/stripped" SECONDS
	"$B/tailor" export --overwrite --format pprof -o "$dir/pprof" "$dir/t.tlr" || fail "export --format pprof: exit $?"
	(cd "$dir" && go build -pgo=pprof -gcflags=-d=pgodebug=1 -o optimized hot.go) >"$dir/pgo" 2>&1 ||
		fail "go build -pgo: $(head -3 "$dir/pgo")"
	grep -q 'hot-node .* for func=main.step' "$dir/pgo" ||
		fail "expected main.step among the functions that go build -pgo inlines more readily, got: $(head -5 "$dir/pgo")"
	/usr/bin/python3 - "$dir/pprof" "$dir/hot.go" <<'END2' || fail "the profile's functions are not where hot.go has them"
import sys
sys.path.insert(0, "tests/golden")
from protobuf import fields
profile = list(fields(open(sys.argv[1], "rb").read()))
texts = [v.decode() for n, v in profile if n == 6]
functions = [dict(fields(v)) for n, v in profile if n == 5]
found = {texts[f[2]]: (texts[f.get(4, 0)], f.get(5, 0)) for f in functions if texts[f[2]].startswith("main.")}
lines = open(sys.argv[2]).read().split("\n")
expected = {f"main.{name}": (sys.argv[2], next(i + 1 for i, line in enumerate(lines) if line.startswith(f"func {name}(")))
            for name in ("main", "collatz", "step", "sum")}
mappings = [dict(fields(v)) for n, v in profile if n == 3]
main = texts[mappings[0][5]] if mappings else None
ok = {name: found.get(name) for name in expected} == expected and main == sys.argv[2].replace("hot.go", "stripped")
sys.exit(0 if ok else f"expected {expected} and the program's mapping first, got {found}, {main}")
END2
}
if go help build | grep -q -- '-pgo '; then
	takes_the_profile
else
	echo "FIGURE go build takes no profile here ($(go version | cut -d ' ' -f 3))"
fi
# the stripped one has the same code as the default one, of which go tells function and line
record 1 "$dir/stripped" SECONDS
"$B/tailor" report --samples "$dir/t.tlr" | awk -F '\t' '$8 ~ /\/stripped$/' | sort -u -t "$(printf '\t')" -k 7,7 >"$dir/ours"
cut -f 7 "$dir/ours" | (cd "$dir" && go tool addr2line default) | paste - - >"$dir/theirs"
diff <(cut -f 9-10 "$dir/ours") "$dir/theirs" >"$dir/different"
echo "FIGURE witness: $(grep -c '^<' "$dir/different") of $(wc -l <"$dir/ours") addresses differ from go tool addr2line"
[ "$(grep -c '^<' "$dir/different")" = 0 ] || fail "expected what go tool addr2line says, got: $(head -5 "$dir/different")"
finish
