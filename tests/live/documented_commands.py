# SPDX-License-Identifier: MIT
"""Runs the commands of the documents: documented_commands.py BUILD FOLDER (see documented-commands.sh and .table)."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

BUILD, FOLDER = sys.argv[1:3]
TOP = os.getcwd()
TABLE = "tests/live/documented-commands.table"
SECONDS = 300  # a command that hangs
COMMANDS = re.findall(r"(?m)^  ([a-z]+) +[a-z]", subprocess.run([BUILD + "/tailor", "help"], capture_output=True, text=True).stdout)

failures = []
left = {}


def fail(where, sentence):
    failures.append("%s: %s" % (where, sentence))


class Table:
    def __init__(self, path):
        self.put, self.leave, self.need, self.known, self.run, self.make = [], [], [], set(), (), False
        for line in open(path):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            kind, rest = words[0], line.strip()[len(words[0]):].strip()
            if kind == "put":
                name, what = rest.split(None, 1)
                if "/" in name:  # the words may have blanks: PLACEHOLDER/a b|c d WHAT
                    name, what = rest.split("/", 1)
                    words_of, what = re.match(r"(.*\S)\s+(@\S+|\S+)$", what).groups()
                    self.put.append((name, words_of.split("|"), what))
                else:
                    self.put.append((name, [], what))
            elif kind == "leave":
                self.leave.append(tuple(x.strip() for x in rest.split(":", 1)))
            elif kind == "need":
                self.need.append(tuple(rest.split(None, 1)))
            elif kind == "known":
                self.known.update(words[1:])
            elif kind == "run":
                self.run += tuple(words[1:])
            elif kind == "make":
                self.make = True
            else:
                sys.exit("%s: %s is none of its words" % (path, kind))


class Processes:
    """Hosts for @running and @dormant, started when the first command asks for one."""

    def __init__(self):
        self.started, self.pid = [], {}

    def of(self, kind):
        if kind not in self.pid:
            host = ["build/engine", "--query", "calibrate", "--threads", "1", "--seconds", "100000"]
            before = ["build/tailor", "run", "-q", "--dormant", "--"] if kind == "@dormant" else []
            p = subprocess.Popen(before + host, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True, cwd=os.path.join(FOLDER, "top"))
            self.started.append(p)
            self.pid[kind] = self.engine(p, before + host)
        return str(self.pid[kind])

    @staticmethod
    def engine(p, command):
        """The process itself or its child, as soon as that is the engine."""
        while p.poll() is None:
            try:
                children = open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()
                for pid in [p.pid] + [int(c) for c in children]:
                    if os.readlink("/proc/%d/exe" % pid).endswith("/engine"):
                        return pid
            except OSError:
                pass
            time.sleep(0.05)
        sys.exit("%s ended with %d before a command was run on it" % (" ".join(command), p.returncode))

    def end(self):
        for p in self.started:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        self.started, self.pid = [], {}


def pages():
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
    names = listed.stdout.split()
    if not names:  # not git's checkout
        names = [os.path.relpath(os.path.join(at, f), ".") for at, _, files in os.walk(".") for f in files if f.endswith(".md")]
    return sorted(n for n in names if not n.startswith("build"))


def blocks(text):
    """(line number, command) of each line of `sh` blocks, continued lines as one, and of each whole command of ours in the text."""
    fenced, inside, command, first = False, False, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence:
            fenced = not fenced
            inside = fenced and fence.group(1) == "sh"
            continue
        if not fenced:
            yield from ((number, span) for span in re.findall(r"`(build/(?:tailor|engine) [^`…]*)`", line))
        if not inside or not line.strip() or line.strip().startswith("#"):
            continue
        first = first or number
        command += line.strip()
        if command.endswith("\\"):
            command = command[:-1]
            continue
        yield first, command
        command, first = "", 0


def statuses(command):
    """What a command may exit with: 0, or what the comment behind it says."""
    said = re.search(r"#.*exit status ([0-9]+(?: or [0-9]+)*)", command)
    return [int(n) for n in said.group(1).split(" or ")] if said else [0]


def check_make(where, command):
    words = command.split()
    makefile = open("Makefile").read()
    for word in words[1:]:
        if word.startswith("-") or ("=" in word and not word.startswith("T=")):
            continue
        if not word.startswith("T="):
            if not re.search(r"^(?:[\w-]+ )*%s(?: [\w-]+)*:" % re.escape(word), makefile, re.M):
                fail(where, "`%s`: the Makefile has no target %s" % (command, word))
            continue
        layer, _, name = word[2:].partition("/")
        if not os.path.isdir("tests/" + layer) or not any(name in f for f in os.listdir("tests/" + layer)):
            fail(where, "`%s`: no test of tests/%s has %s in its name" % (command, layer, name))


def filled(table, processes, command):
    for name, words, what in table.put:
        if not re.search(r"\b%s\b" % name, command) or (words and not any(w in command for w in words)):
            continue
        command = re.sub(r"\b%s\b" % name, processes.of(what) if what.startswith("@") else what, command)
    return command


def run_page(table, processes, page, top):
    for number, line in blocks(open(page).read()):
        where = "%s:%d" % (page, number)
        command = re.sub(r"\s+#.*", "", line)
        if table.make and re.match(r"make\b", command):
            check_make(where, command)
            continue
        why = [w for prefix, w in table.leave if command.startswith(prefix)]
        why += ["`%s` fails here" % probe for word, probe, works in table.need if re.search(r"\b%s\b" % word, command) and not works]
        if why:
            left[where] = "%s: %s" % (command, why[0])
            continue
        if not command.startswith(table.run):
            fail(where, "`%s`: %s does not say how it is run" % (command, TABLE))
            continue
        told = filled(table, processes, command)
        begin = time.monotonic()
        p = subprocess.Popen(["bash", "-c", told + "\nstatus=$?\nwait\nexit $status"], cwd=top, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            output = p.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            output = p.communicate()[0]
        if os.environ.get("DOCUMENTS_DEBUG"):
            print("%6.2f s  %s  %s" % (time.monotonic() - begin, where, command))
        if p.returncode not in statuses(line):
            fail(where, "`%s`\n  run as    %s\n  expected  exit status %s\n  got       %d, and\n%s" % (
                command, told, " or ".join(map(str, statuses(line))), p.returncode,
                "".join("    | %s\n" % x for x in output.strip().split("\n")[-12:])))


def options_of(program):
    out = {}
    for words in [[program, "help", c] for c in COMMANDS]:
        text = subprocess.run(words, capture_output=True, text=True).stdout
        out[words[2]] = set(re.findall(r"--[a-z][a-z-]*", text))
    return out


def check_options(table, help_of, page):
    """Each `tailor COMMAND --option`, also without the program's name, or in a block that is not run, names an option of that command."""
    whole = open(page).read()
    text = re.sub(r"(?ms)^\s*```.*?^\s*```", lambda m: "\n" * m.group().count("\n"), whole)
    spans = [(text.count("\n", 0, m.start()) + 1, " ".join(m.group(1).split())) for m in re.finditer(r"`([^`]+)`", text)]
    spans += [(whole.count("\n", 0, m.start()) + 1, m.group(1)) for m in re.finditer(r"(?m)^(?:\$ )?(tailor .*)", whole)]
    for number, span in spans + list(blocks(whole)):
        words = re.match(r"(?:build/|bin/)?(?:tailor )?(%s)((?: .*)?)$" % "|".join(COMMANDS), span)
        if not words:
            continue
        own = words.group(2).split(" -- ")[0]
        for option in re.findall(r"(?<= )--[a-z][a-z-]*", own):
            if option not in help_of[words.group(1)] and option not in table.known:
                fail("%s:%d" % (page, number), "`%s`: tailor %s has no option %s" % (span, words.group(1), option))


def main():
    table, processes, nr = Table(TABLE), Processes(), 0
    top = os.path.join(FOLDER, "top")
    os.mkdir(top)
    for name in os.listdir(TOP):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(TOP, name), os.path.join(top, name))
    os.symlink(BUILD, os.path.join(top, "build"))
    table.need = [(word, probe, subprocess.run(probe, shell=True, cwd=top, capture_output=True).returncode == 0)
                  for word, probe in table.need]
    help_of = options_of(os.path.join(BUILD, "tailor"))
    entries = set(os.listdir(top))
    try:
        for page in pages():
            check_options(table, help_of, page)
            nr += len(list(blocks(open(page).read())))
            run_page(table, processes, page, top)
            processes.end()
            for name in set(os.listdir(top)) - entries:  # a page uses what it recorded itself
                at = os.path.join(top, name)
                shutil.rmtree(at) if os.path.isdir(at) and not os.path.islink(at) else os.remove(at)
    finally:
        processes.end()
    for where, why in left.items():
        print("not run: %s: %s" % (where, why))
    if failures:
        print("\n".join(failures))
    if not nr:
        sys.exit("expected commands in the documents, found none")
    if failures:
        sys.exit(1)
    print("%d commands of the documents, %d of them not run here" % (nr, len(left)))


main()
