#!/bin/bash
# SPDX-License-Identifier: MIT
# Inside of a room, files do not use each other in a circle: a helper of two files stands in a third.  Uses are read from the objects in
# BUILD (a symbol that one defines and another needs), so a header that two files share makes no circle by itself.  Circles between rooms
# are refused by tests/lint/layers.sh.  Both are shown a circle first, and have to refuse it.
set -u
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
bad=0
planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT

circles() { # BUILD FILE...
	/usr/bin/python3 - "$@" <<'END'
import collections, os, subprocess, sys

# Rooms that have circles today.  One whose circles are gone is taken off this list.
OPEN = ('agent/guest', 'jitreg/engines', 'jitreg/trace',
        'shim', 'shim/engines', 'shim/hosts')
build, sources = sys.argv[1], sys.argv[2:]
objects = {s: path for s in sources if os.path.exists(path := f'{build}/{s[:-2]}.o')}
defines, needs, file = collections.defaultdict(list), {}, None
of_object = {path: s for s, path in objects.items()}
for line in subprocess.run(['nm', '-A', *objects.values()], capture_output=True, text=True, check=True).stdout.splitlines():
    path, _, rest = line.partition(':')
    *_, kind, symbol = rest.split()
    if kind == 'U':
        needs.setdefault(of_object[path], []).append(symbol)
    elif kind.isupper():
        defines[symbol].append(of_object[path])
uses = collections.defaultdict(dict)
for user, symbols in needs.items():
    for symbol in symbols:
        for other in defines[symbol]:
            if other != user and os.path.dirname(other) == os.path.dirname(user):
                uses[user].setdefault(other, symbol)


def reached(first):
    seen, todo = set(), [first]
    while todo:
        for other in uses[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def circle(first): # the shortest from a file back to it
    before, todo = {}, collections.deque([first])
    while todo:
        user = todo.popleft()
        for other in uses[user]:
            if other == first:
                way = [first]
                while user != first:
                    way.insert(0, user)
                    user = before[user]
                return [first, *way]
            if other not in before:
                before[other] = user
                todo.append(other)


found, told = collections.Counter(), set()
for source in sorted(list(uses)):
    if source in told or source not in reached(source):
        continue
    room, way = os.path.dirname(source), circle(source)
    told.update(way)
    found[room] += 1
    if room not in OPEN:
        print('these files use each other in a circle: ' +
              ', '.join(f'{a} uses {uses[a][b]} of {b}' for a, b in zip(way, way[1:])))
if not objects:
    sys.exit(f'no objects in {build}')
done = [room for room in OPEN if any(os.path.dirname(s) == room for s in objects) and not found[room]]
for room in done:
    print(f'tests/lint/circles.sh: {room} has no circle any more: take it off the list')
bad = done + [room for room in found if room not in OPEN]
if not bad:
    print(f'no circles among {len(objects)} files, but in {len(found)} rooms')
sys.exit(bool(bad))
END
}

# A planted circle of three files, and one of two rooms.
mkdir -p "$planted/analyzer/planted"
plant() { # FILE SYMBOL NEEDED
	echo "void $3(void); void $2(void); void $2(void) { $3(); }" | cc -c -x c -o "$planted/analyzer/planted/$1.o" - || exit 1
}
plant a one two
plant b two three
plant c three one
if said=$(circles "$planted" analyzer/planted/{a,b,c}.c) || [[ $said != *"a.c uses two of analyzer/planted/b.c"* ]]; then
	echo "a planted circle of three files was not refused: $said"
	bad=1
fi
sed 's,^jitreg/base:,& jitreg/trace,' tests/lint/rooms >"$planted/rooms"
refusal='jitreg/base -> jitreg/trace: jitreg/trace does not stand above'
if said=$(ROOMS=$planted/rooms tests/lint/layers.sh) || [[ $said != *"$refusal"* ]]; then
	echo "a planted circle of two rooms was not refused: $said"
	bad=1
fi

mapfile -t sources < <(git ls-files 'agent/*.c' 'shim/*.c' 'analyzer/*.c' 'jitreg/*.c')
circles "$1" "${sources[@]}" || bad=1
exit $bad
