#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which lines and functions tests reach, room by room: tests/coverage.py BUILD [FILES]

BUILD was made with --coverage, and tests were run with it (`make coverage`).  FILES: so many files with the lowest share of lines
are listed, too (10).  A line that several objects have (of a header) is reached if it is in one of them.
"""
import collections, glob, json, os, subprocess, sys

build = os.path.realpath(sys.argv[1])
nr_files = int(sys.argv[2]) if len(sys.argv) > 2 else 10
top = os.getcwd() + '/'
ROOMS = ('agent/', 'analyzer/', 'jitreg/', 'shim/')
lines = collections.defaultdict(dict) # file: line: count
functions = collections.defaultdict(dict) # file: (first line, name): count

objects = [o for room in ROOMS for o in glob.glob(f'{build}/{room}**/*.gcno', recursive=True)]
if not objects:
    sys.exit(f'{build} has no .gcno files: make coverage')
for at in range(0, len(objects), 50):
    out = subprocess.run(['gcov', '--json-format', '--stdout', *objects[at:at + 50]], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        for file in json.loads(line)['files']:
            name = os.path.normpath(file['file'])
            name = name[len(top):] if name.startswith(top) else name
            if not name.startswith(ROOMS):
                continue
            for l in file['lines']:
                n = l['line_number']
                lines[name][n] = max(lines[name].get(n, 0), l['count'])
            for f in file['functions']:
                key = f['start_line'], f['name']
                functions[name][key] = max(functions[name].get(key, 0), f['execution_count'])


def reached(counts):
    return sum(c > 0 for c in counts.values()), len(counts)


def share(n, of):
    return f'{100 * n / of:5.1f} %' if of else '      -'


def row(name, l, f):
    print(f'{name:30}{l[1]:7}{share(*l):>9}{f[1]:11}{share(*f):>9}')


rooms = collections.defaultdict(lambda: [[0, 0], [0, 0]])
for name in lines:
    for room in (os.path.dirname(name), ''):
        for i, counts in enumerate((lines[name], functions[name])):
            for k, n in enumerate(reached(counts)):
                rooms[room][i][k] += n
print(f'{"room":30}{"lines":>7}{"reached":>9}{"functions":>11}{"reached":>9}')
for room in sorted(r for r in rooms if r):
    row(room, *rooms[room])
row('all', *rooms[''])
lowest = sorted((n for n in lines if len(lines[n]) >= 20), key=lambda n: reached(lines[n])[0] / len(lines[n]))[:nr_files]
if lowest:
    print('\nFiles with the lowest share')
for name in lowest:
    print(f'{name:40}{len(lines[name]):7}{share(*reached(lines[name])):>9}')
