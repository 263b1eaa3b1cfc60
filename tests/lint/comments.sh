#!/bin/bash
# SPDX-License-Identifier: MIT
# Comments of the C files and of the page's scripts are sentences: one of more than six words does not begin with "of", "what", "its",
# "who", "where" or "likewise", and of all comments at most 6 % begin with a pronoun or a particle, as in the code of libbpf, zstd and
# WireGuard.
# comments.sh BUILD [--list] [FILE]...: of some files; --list names all comments that begin so.
set -u
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
shift
list=0
[ "${1:-}" != --list ] || { list=1; shift; }
[ $# -gt 0 ] && whole=0 || whole=1
[ $# -gt 0 ] || mapfile -t files < <(git ls-files {agent,shim,analyzer,jitreg}/'*.[ch]' analyzer/'*.js' analyzer/'*.css')
exec /usr/bin/python3 - $list $whole "$@" "${files[@]}" <<'END'
import re, sys

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
# In a script, lines of // are one comment, and neither a template nor a regular expression has one.
SCRIPT = re.compile(r'(?<=[(,=!&|?:])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\[\\\n])+/|`(?:\\.|[^`\\])*`|'
                    r'//[^\n]*(?:\n\s*//[^\n]*)*|' + TOKEN.pattern, re.S)
REFUSED = set('of what its who where likewise'.split())
PARTICLES = REFUSED | set('whose whom which it they them those that these such ones others as but and or nor so too also than behind by '
                          'from'.split())
WORDS, SHARE = 6, 0.06


def comments_of(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        source = f.read()
    for m in (SCRIPT if path.endswith('.js') else TOKEN).finditer(source):
        if m.group()[:2] in ('//', '/*'):
            text = re.sub(r'(?m)^\s*//|^/[/*]+|\*/$', '', re.sub(r'(?m)^\s*\*(?!/)', ' ', m.group()))
            text = re.sub(r'^ SPDX-[^\n]*', '', text)
            if text.strip(' -/\n'):
                yield source.count('\n', 0, m.start()) + 1, text


every, whole = int(sys.argv[1]), int(sys.argv[2])
nr = fragments = bad = 0
for path in sys.argv[3:]:
    for line, text in comments_of(path):
        words = re.findall(r"[A-Za-z0-9_'’.()/-]+", text)
        first = re.match(r"[a-z]+", words[0].lower()) if words else None
        nr += 1
        if not first or first.group() not in PARTICLES or re.search(r"[_(0-9]", words[0]):
            continue
        fragments += 1
        refused = first.group() in REFUSED and len(words) > WORDS
        bad += refused
        if every or (refused and whole):
            print(f"{path}:{line}: begins with \"{words[0]}\": {' '.join(words[:12])}")
print(f"FIGURE {fragments} of {nr} comments begin with a pronoun or a particle, {100 * fragments / max(nr, 1):.1f} %; {bad} are refused")
sys.exit(bad > 0 or fragments > SHARE * nr)
END
