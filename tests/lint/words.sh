#!/bin/bash
# SPDX-License-Identifier: MIT
# Concepts have one name each: tests/lint/phrases says which phrases are not used, and what is written instead.  Looked at are
# strings of the product's C files (that is help and manual pages, too), their comments, all README.md and docs, and `make help`.  A phrase
# may be spread over lines, or over strings side by side.  A comment, also of the tests' C files, does not begin with "...":
# it is a sentence of its own.
# words.sh BUILD [FILE]... for some files.
set -u
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
shift
[ $# -gt 0 ] || mapfile -t files < <(git ls-files {agent,shim,analyzer,jitreg,tests}/'*.[ch]' '*.md' Makefile)
exec /usr/bin/python3 - "$#" "$@" "${files[@]}" <<'END'
import fnmatch, re, sys

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
BETWEEN = re.compile(r'(?:\s|\\\n|PRI[a-zA-Z0-9]+)*') # of two strings that are one
LIST = 'tests/lint/phrases'
TESTS = 'tests/' # in their C files, only how comments begin is looked at


class Text:
    """What is looked at in one place, with a line for each character."""

    def __init__(self, kind):
        self.kind, self.text, self.lines = kind, '', []

    def add(self, text, line):
        for c in text:
            self.text += c
            self.lines.append(line)
            line += c == '\n'


def texts_of_c(path, source):
    last, end = None, 0
    for m in TOKEN.finditer(source):
        t, line = m.group(), source.count('\n', 0, m.start()) + 1
        if t[0] == '"':
            if re.match(r'\s*#\s*include', source[source.rfind('\n', 0, m.start()) + 1:m.start()]):
                continue
            if last is None or not BETWEEN.fullmatch(source, end, m.start()):
                if last is not None:
                    yield last
                last = Text('string')
            last.add(re.sub(r'\\[ntrv]', '  ', t[1:-1]), line)
            end = m.end()
        elif t[0] == '/':
            comment = Text('comment')
            comment.add(re.sub(r'(?m)^(\s*)\*', r'\1 ', t), line)
            yield comment
    if last is not None:
        yield last


def texts_of(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        source = f.read()
    if path.endswith(('.c', '.h')):
        yield from texts_of_c(path, source)
    elif path.endswith('.md'):
        document = Text('document')
        document.add(source, 1)
        yield document
    else: # what `make help` prints
        for i, line in enumerate(source.split('\n')):
            if re.match(r'[a-z-]+:.*## ', line):
                text = Text('string')
                text.add(line.split('## ', 1)[1], i + 1)
                yield text


def read_list():
    phrases, exceptions, section = [], [], None
    with open(LIST, encoding='utf-8') as f:
        for i, line in enumerate(f):
            line = line.strip()
            if not line or line[0] == '#':
                continue
            if line[0] == '[' and line[-1] == ']':
                section = line[1:-1]
                continue
            left, arrow, right = line.partition(' => ')
            if not arrow or section not in ('everywhere', 'shown', 'columns', 'except'):
                sys.exit(f'{LIST}:{i + 1}: not PHRASE => TERM, or FILE: PHRASE => REASON, in a section')
            if section == 'except':
                path, _, phrase = left.partition(': ')
                exceptions.append([path, phrase, i + 1, 0])
            else:
                pattern = re.compile(r'(?<!\w)(?:' + left.replace(' ', r'\s+') + r')(?!\w)', re.I)
                phrases.append((pattern, right, section))
    return phrases, exceptions


nr_named, paths = int(sys.argv[1]), sys.argv[2:]
phrases, exceptions = read_list()
found = []
for path in paths:
    for t in texts_of(path):
        if t.kind == 'comment' and re.match(r'/\*\W*\.\.\.', t.text):
            found.append((path, t.lines[0], '...', 'a whole sentence'))
        if path.startswith(TESTS) and t.kind != 'document':
            continue
        taken = [] # the first phrase of the list that has a place, has it alone
        for pattern, term, section in phrases:
            if section == 'shown' and t.kind == 'comment' or section == 'columns' and t.kind != 'string':
                continue
            for m in pattern.finditer(t.text):
                if section == 'columns' and m.group() != t.text or any(m.start() < b and a < m.end() for a, b in taken):
                    continue
                taken.append(m.span())
                phrase = ' '.join(m.group().split())
                for e in exceptions:
                    if fnmatch.fnmatch(path, e[0]) and e[1].lower() == phrase.lower():
                        e[3] += 1
                        break
                else:
                    found.append((path, t.lines[m.start()], phrase, term))
for path, line, phrase, term in sorted(set(found)):
    print(f'{path}:{line}: {phrase} -> {term}')
bad = len(set(found))
if not nr_named:
    for path, phrase, line, used in exceptions:
        if not used:
            print(f'{LIST}:{line}: nothing needs the exception {path}: {phrase}')
            bad += 1
print(f'{bad} to be changed' if bad else f'{len(paths)} files keep to the terms: {len(phrases)} phrases, {len(exceptions)} exceptions')
sys.exit(bad > 0)
END
