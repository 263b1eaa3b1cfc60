#!/bin/bash
# SPDX-License-Identifier: MIT
# What can be reached from signal handlers, and in a child right after fork, calls only what may be called there: functions of
# signal-safety(7) and others that tests/lint/signal_safe names.  Roots: what is given to sigaction(), signal() or
# __register_atfork() anywhere, what a header calls "also signal", and what that list adds.  Calls are read from the objects in
# BUILD, so inlining and tail calls do not matter; calls by pointers are in the list.
set -u
B=$1 exec /usr/bin/python3 - <<'END'
import glob, os, re, subprocess, sys

LIST = 'tests/lint/signal_safe'
ROOMS = ('agent', 'shim', 'analyzer', 'jitreg')
build = os.environ['B'].rstrip('/')
bad = 0


def say(sentence):
    global bad
    print(sentence)
    bad += 1


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# ------------------------------------------------------------------------------------------------- the list
functions, others, pointers, stops, roots, used = set(), {}, {}, {}, [], set()
with open(LIST, encoding='utf-8') as f:
    for nr, line in enumerate(f, 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        if line[0] == '[':
            section = line[1:-1]
            continue
        left, _, reason = (s.strip() for s in line.partition('=>'))
        if section == 'libc':
            functions.update(left.split())
        elif not reason:
            sys.exit(f'{LIST}:{nr}: no reason')
        elif section == 'others':
            callers, _, names = left.partition(':')
            others.update(((caller, name), nr) for caller in callers.split() for name in names.split())
        elif section == 'pointers':
            callers, _, targets = left.partition(':')
            pointers.update((caller, (targets.split(), nr)) for caller in callers.split())
            if set(callers.split()) & set(targets.split()):
                sys.exit(f'{LIST}:{nr}: a function of that name elsewhere is FILE/FUNCTION; this is the caller itself')
        elif section == 'not followed':
            stops[left] = nr
        elif section == 'roots':
            path, _, names = left.partition(':')
            roots += [(path, name, reason) for name in names.split()]
        else:
            sys.exit(f'{LIST}:{nr}: no section {section}')

# ------------------------------------------------------------------------------------------ roots in the sources
INSTALLED = re.compile(r'\.sa_(?:handler|sigaction)\s*=\s*(\w+)|\bsignal\(\s*\w+,\s*(\w+)\)|'
                       r'\b(?:__register_atfork|pthread_atfork)\(\s*\w+,\s*\w+,\s*(\w+)')
SAFE = re.compile(r'/\*(?:(?!\*/).)*?Context: (?:any, also )?signal\b(?:(?!\*/).)*?\*/\s*([^;{]*?)\b(\w+)\(', re.S)
sources = [p for room in ROOMS for p in glob.glob(f'{room}/**/*.[ch]', recursive=True)]
for path in sorted(sources):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    for m in INSTALLED.finditer(text):
        name = m.group(1) or m.group(2) or m.group(3)
        if name not in ('SIG_IGN', 'SIG_DFL', 'NULL'):
            roots.append((path, name, 'installed here'))
    if path.endswith('.h'):
        for m in SAFE.finditer(text):
            if '#' not in m.group(1):
                roots.append((path, m.group(2), 'its header says so'))

# ------------------------------------------------------------------------------------------------ calls in objects
objects = [o for room in ROOMS for o in glob.glob(f'{build}/{room}/**/*.o', recursive=True)]
if not objects:
    sys.exit(f'{build} has no objects')
defines, data = {}, set() # name: objects that have it as a global function
for line in output('nm', '-A', '--defined-only', *objects).splitlines():
    where, kind, name = line.rsplit(' ', 2)
    if kind in 'TW':
        defines.setdefault(name, []).append(where.rsplit(':', 1)[0])
    elif kind.isupper():
        data.add(name)


def base(name):
    return re.sub(r'(\.(cold|part|constprop|isra|lto_priv|localalias)(\.\d+)?)+$', '', name)


class Object:
    """Of each of its functions: what it calls, and how often by a pointer."""

    def __init__(self, path):
        self.calls, self.by_pointer = {}, {}
        sections = {}
        for line in output('objdump', '-t', path).splitlines():
            m = re.match(r'([0-9a-f]{16}) (.{7}) (\S+)\s+[0-9a-f]{16}(?: \.\w+)? (\S+)$', line)
            if m and 'F' in m.group(2):
                sections.setdefault(m.group(3), []).append((int(m.group(1), 16), m.group(4)))
        for s in sections.values():
            s.sort()
        self.sections = sections
        function, before, loaded = None, [], {}
        lines = output('objdump', '-dr', '--no-show-raw-insn', path).splitlines()
        for i, line in enumerate(lines):
            m = re.match(r'[0-9a-f]{16} <(.+)>:$', line)
            if m:
                function = base(m.group(1))
                self.calls.setdefault(function, set())
                self.by_pointer.setdefault(function, 0)
                before, loaded = [], {}
                continue
            m = re.match(r'\s+[0-9a-f]+:\t(?:(?:bnd|notrack|data16|rex\.W|cs) )*(\w+)\s*(.*)', line)
            if not m or function is None or 'R_X86_64' in line:
                continue
            operation, operand = m.group(1), m.group(2)
            relocation = re.search(r'(R_X86_64_\w+)\s+(\S+)', lines[i + 1]) if i + 1 < len(lines) else None
            target = self.target(relocation, operand)
            register = operand.split('#')[0].split(',')[-1].strip()
            if operation == 'mov' and relocation and 'GOTPCREL' in relocation.group(1) and target not in data:
                loaded[register] = target # to be called through it, if it is a function
            elif operation == 'call' or operation[0] == 'j':
                if '*' not in operand:
                    if target and base(target) != function:
                        self.calls[function].add(base(target))
                elif relocation and 'GOTPCREL' in relocation.group(1):
                    self.calls[function].add(base(target))
                elif operand.strip().lstrip('*') in loaded:
                    self.calls[function].add(base(loaded[operand.strip().lstrip('*')]))
                elif operation == 'call' or not self.is_switch(operand, before):
                    self.by_pointer[function] += 1
            elif operation not in ('cmp', 'test', 'push'):
                loaded.pop(register, None)
            before = before[-5:] + [(operation, operand)]

    @staticmethod
    def is_switch(operand, before):
        return ',8)' in operand or any(o == 'movslq' for o, _ in before)

    def target(self, relocation, operand):
        if relocation:
            m = re.match(r'(.+?)([-+]0x[0-9a-f]+)?$', relocation.group(2))
            name, at = m.group(1), int(m.group(2) or '0', 16) + 4
            if name not in self.sections:
                return name.split('@')[0]
            return next((n for a, n in reversed(self.sections[name]) if a <= at), name)
        m = re.search(r'<([^>+]+)(?:\+0x[0-9a-f]+)?>', operand)
        return m.group(1) if m else None


read = {}


def object_of(path):
    if path not in read:
        read[path] = Object(path)
    return read[path]


def find(name, path):
    """The object that has a function, seen from an object."""
    if path and name in object_of(path).calls:
        return path
    return next(iter(defines.get(name, [])), None)


seen, todo = set(), []
for path, name, reason in roots:
    at = find(name, f'{build}/{path[:-2]}.o' if os.path.exists(f'{build}/{path[:-2]}.o') else None)
    if name in stops:
        used.add(stops[name])
    elif at:
        todo.append((at, name, f'{name} ({path})'))
    elif path.endswith('.c') or not any(re.search(rf'static inline[^;{{]*\b{name}\(', open(path).read()) for _ in '1'):
        say(f'{path}: {name}: not found in {build}')
nr_roots = len(todo)
while todo:
    path, name, way = todo.pop()
    if (path, name) in seen:
        continue
    seen.add((path, name))
    o = object_of(path)
    if name not in o.calls:
        say(f'{LIST}: {path} has no function {name}')
        continue
    short = path[len(build) + 1:-2] + '.c'
    called = set(o.calls[name])
    if o.by_pointer[name]:
        if name in pointers:
            used.add(pointers[name][1])
            called.update(pointers[name][0])
        else:
            say(f'{short}: {name} calls by a pointer, and [pointers] does not name it ({way})')
    for c in sorted(called):
        elsewhere = re.fullmatch(r'(.+)\.c/(\w+)', c) # of [pointers]: a static function
        if elsewhere:
            todo.append((f'{build}/{elsewhere.group(1)}.o', elsewhere.group(2), f'{way} > {elsewhere.group(2)}'))
        elif c in stops:
            used.add(stops[c])
        elif find(c, path):
            todo.append((find(c, path), c, f'{way} > {c}'))
        elif (name, c) in others:
            used.add(others[name, c])
        elif c not in functions and not re.match(r'__(asan|ubsan|tsan|sanitizer)_', c):
            say(f'{short}: {name} calls {c}, which may not be called in a signal handler ({way})')
with open(f'{build}/flags', encoding='utf-8') as f:
    usual = re.match(r'gcc .* -O2', f.read()) # others inline other functions
for unused in sorted({*others.values(), *stops.values(), *(nr for _, nr in pointers.values())} - used if usual else ()):
    say(f'{LIST}:{unused}: nothing needs this')
if os.environ.get('VERBOSE'):
    print('\n'.join(sorted(f'{p}: {n}' for p, n in seen)))
if not bad:
    print(f'{len(seen)} functions are reached from {nr_roots} that may run in signal handlers, and call only what may be called there')
sys.exit(bad > 0)
END
