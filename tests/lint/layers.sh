#!/bin/bash
# SPDX-License-Identifier: MIT
# The arrows between the rooms (tests/lint/rooms), docs/architecture.md's picture of them, each room's own README, one door for each
# third-party library.
# layers.sh --picture prints that picture.
set -u
bad=0
say() { echo "$1"; bad=1; }
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
FILES_MAX=16
# The analyzer's rooms have fewer, but for these, each with the reason.
declare -A one_more=(
	[analyzer/symbols]="a form of debug information is a file, and all of them stand behind elf_object.h"
	[analyzer/store]="a table of the store is a file, and SQLite has one door"
	[analyzer/model]="a kind of record is a file, and all fill one struct model"
	[analyzer/attribute]="a step of a sample's way is a file, and the way is not divided between rooms"
)

# A room may use rooms that stand above it in the list, so there are no circles.  height: of what it uses, and one.
declare -A may height
rooms=()
while read -r room arrows; do
	case $room in '' | '#'*) continue ;; esac
	room=${room%:}
	h=0
	for to in $arrows; do
		if [ -z "${height[$to]:-}" ]; then
			say "tests/lint/rooms: $room -> $to: $to does not stand above $room"
		elif [ "${height[$to]}" -ge $h ]; then
			h=$((height[$to] + 1))
		fi
	done
	height[$room]=$h
	may[$room]=" $arrows "
	rooms+=("$room")
done <"${ROOMS:-tests/lint/rooms}"

picture() {
	local h=0 line
	while :; do
		line=
		for room in "${rooms[@]}"; do [ "${height[$room]}" = $h ] && line+="  $room"; done
		[ -n "$line" ] || break
		echo "$h$line" | fold -s -w 78 | sed '2,$s/^/   /; s/ *$//'
		h=$((h + 1))
	done
}
[ "${1:-}" = --picture ] && { picture; exit $bad; }

declare -A used files
while IFS=: read -r f line; do
	room=${f%/*}
	h=${line#*\"} h=${h%%\"*} to=${h%/*}
	if [ -z "${may[$room]:-}" ]; then
		say "$f is in no room of tests/lint/rooms"
	elif [ ! -e "$h" ]; then
		say "$f includes \"$h\": not a file, seen from the top folder"
	elif [ "$to" != "$room" ]; then
		case ${may[$room]} in
		*" $to "*) used["$room $to"]=1 ;;
		*) say "$f includes $h: the arrow $room -> $to does not exist" ;;
		esac
	fi
done < <(git grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' -- 'agent/*.[ch]' 'shim/*.[ch]' 'jitreg/*.[ch]' 'analyzer/*.[ch]')
for f in $(git ls-files 'agent/*.c' 'shim/*.c' 'jitreg/*.c' 'analyzer/*.c'); do files[${f%/*}]=$((${files[${f%/*}]:-0} + 1)); done
for room in "${rooms[@]}"; do
	for to in ${may[$room]}; do [ -n "${used[$room $to]:-}" ] || say "tests/lint/rooms: no file needs $room -> $to"; done
	most=$FILES_MAX
	[[ $room != analyzer* || -n "${one_more[$room]:-}" ]] || most=$((FILES_MAX - 1))
	[ "${files[$room]:-0}" -le $most ] || say "$room has ${files[$room]} C files: more than $most"
	[ -z "${one_more[$room]:-}" ] || [ "${files[$room]:-0}" = $most ] || say "tests/lint/layers.sh: $room needs no file more any longer"
done
diff <(picture) <(sed -n '/^```rooms$/,/^```$/{/^```/d;p}' docs/architecture.md) >/dev/null ||
	say "docs/architecture.md's picture of the rooms is not what tests/lint/layers.sh --picture prints"

# Every room has a README.md whose tables name each of its .c files.  No page names a .c or .h file that does not exist.
NAME_OF_FILE='`[A-Za-z0-9_][A-Za-z0-9_/.-]*\.(c|h|\[ch\])`'
names_files_that_exist() { # PAGE
	local name folder=${1%/*}
	for name in $(grep -oE "$NAME_OF_FILE" "$1" | tr -d '`' | sed -E 's/(.*)\.\[ch\]$/\1.c\n\1.h/' | sort -u); do
		[ -e "$name" ] || [ -e "$folder/$name" ] || say "$1 names $name: no such file, seen from there or from the top folder"
	done
}
for page in ./*.md docs/*.md; do names_files_that_exist "$page"; done
for room in "${rooms[@]}"; do
	if [ ! -e "$room/README.md" ]; then
		say "$room has no README.md"
		continue
	fi
	names_files_that_exist "$room/README.md"
	tables=$(grep '^|' "$room/README.md")
	for f in $(git ls-files "$room/*.c"); do
		name=${f##*/}
		[ "${f%/*}" = "$room" ] || continue
		case $tables in
		*"\`$name\`"* | *"\`${name%.c}.[ch]\`"*) ;;
		*) say "$room/README.md: no table names $name" ;;
		esac
	done
done

# Library headers and the files that are their door.
door() { # PATTERN ALLOWED-REGEX NAME
	for f in $(git grep -lE "#[[:space:]]*include[[:space:]]*<($1)" -- '*.c' '*.h' ':!tests'); do
		echo "$f" | grep -qE "$2" || say "$f includes $3, whose door is $2"
	done
}
door 'perfmon/' '^agent/recorder/perf/event' libpfm4
door 'msgpack' '^jitreg/trace/' msgpack-c
door 'zstd' '^(jitreg/trace/|agent/recorder/import/perf_compressed|analyzer/symbols/inflate|analyzer/store/block)' zstd
door 'lzma' '^agent/recorder/images/xz' lzma
door 'elfutils/|dwarf\.h|libelf\.h|gelf\.h' '^analyzer/symbols/' libdw
door 'libunwind' '^analyzer/unwind/' libunwind
door 'microhttpd' '^analyzer/serve/http\.c' libmicrohttpd
door 'seccomp\.h' '^jitreg/confine/' libseccomp
door 'Zydis' '^analyzer/symbols/insn' Zydis
door 'libiberty' '^analyzer/symbols/demangle' libiberty
door 'zlib\.h' '^analyzer/(output/gzip|symbols/inflate)' zlib
door 'sqlite3' '^analyzer/store/' SQLite
door 'n?curses' '^analyzer/top/screen\.c' ncurses
door 'jansson' '^analyzer/(output|report|overhead|spark/event_log|wire/otlp_answer)' jansson

# The part of the analyzer that will also run in a browser needs nothing but memcpy and friends.
for f in $(git ls-files 'analyzer/table/*.c' 'analyzer/table/*.h'); do
	for h in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\([^>]*\)>.*/\1/p' "$f"); do
		case $h in
		stdint.h | stddef.h | stdbool.h | string.h | limits.h) ;;
		*) say "$f includes <$h>: analyzer/table/ has no libc" ;;
		esac
	done
done
[ $bad = 0 ] && echo "all arrows and doors hold: ${#rooms[@]} rooms, ${#used[@]} arrows"
exit $bad
