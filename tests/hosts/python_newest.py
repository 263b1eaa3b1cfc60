#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The newest CPython of Debian unstable, as it is there: python_newest.py BUILD [--version 3.15] [--samples N] [--python COMMAND]

Its packages are unpacked into ROOTS (/var/tmp/tailor-newest); nothing is installed.  The C library that it needs is laid over the
machine's in a mount namespace of this script, so root, or a kernel with user namespaces, is needed.  python_shares.py is recorded by run,
attach and attach --inject, with and without CPython's JIT: a line each has the share of a() in the samples of a() and b(), and what the
program itself measured.  Exit 1 where they are more than 2 points apart, or where names are missing without a sentence; 77 where it cannot
be tried.  --python: another interpreter, which is there.

For other scripts: lines(build, version, samples) yields (text, is_right).
"""
import argparse
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
ROOTS = os.environ.get("ROOTS", "/var/tmp/tailor-newest")  # other systems' folders confuse who looks through the build
SAMPLES = 5000   # 2 points are three standard deviations
WITHIN = 2
LONGEST_S = 120
SENTENCE = "ames of Python functions unavailable"
CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x10000000, 0x1000, 0x4000, 0x40000


class Skip(Exception):
    pass


def output(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **more).stdout


# ---------------------------------------------------------------------------------------------------- another release's packages

def fetch(folder, suite, *packages):
    """Unpacks packages and what they need; files of the C library are in folder/c, those of the others in folder/root."""
    if os.path.exists(folder + "/done"):
        return
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lists/partial", "cache/archives/partial", "root", "c"):
        os.makedirs(f"{folder}/{name}")
    open(folder + "/status", "w").close()
    site = next((s for s in output("apt-get", "indextargets", "--format", "$(SITE)").split() if s.rstrip("/").endswith("/debian")), None)
    if not site:
        raise Skip("apt names no mirror of Debian")
    with open(folder + "/sources", "w") as to:
        to.write(f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {site} {suite} main\n")
    with open(folder + "/apt.conf", "w") as to:
        to.write(f"""Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
Dir::Etc::SourceList "{folder}/sources";
Dir::Etc::SourceParts "/dev/null";
Dir::State::status "{folder}/status";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
""")
    env = dict(os.environ, APT_CONFIG=folder + "/apt.conf")
    try:
        for command in ("update",), ("-y", "-d", "install", *packages):
            subprocess.run(["apt-get", "-qq", *command], env=env, stdout=subprocess.DEVNULL, check=True)
    except subprocess.CalledProcessError as e:
        raise Skip(f"{' '.join(packages)} cannot be fetched from {suite}") from e
    for package in glob.glob(folder + "/cache/archives/*.deb"):
        to = "c" if os.path.basename(package).startswith("libc6_") else "root"
        subprocess.run(["dpkg", "-x", package, f"{folder}/{to}"], check=True)
    open(folder + "/done", "w").close()


def checked(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def lay_c_library_over(folder):
    """In this process and its children: a newer C library runs the programs of an older one, but not the other way round."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    try:
        checked(libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if user else 0)))
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")) if user else ():
            with open("/proc/self/" + name, "w") as to:
                to.write(text)
        checked(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
        for library in glob.glob(f"{folder}/c{LIBRARIES}/*.so.*"):
            there = f"{LIBRARIES}/{os.path.basename(library)}"
            if os.path.exists(there):
                checked(libc.mount(library.encode(), there.encode(), None, MS_BIND, None))
    except OSError as e:
        raise Skip(f"no mount namespace: {e.strerror}") from e


# ----------------------------------------------------------------------------------------------------------------- a recording

class Recording:
    def __init__(self, tailor, trace):
        report = json.loads(output(tailor, "report", "--json", "--top", "0", trace))
        samples = {c["name"]: c["samples"] for c in report["components"] if c["level"] == "function"}
        self.text = " ".join(output(tailor, "report", trace).split())
        self.nr = samples.get("a", 0) + samples.get("b", 0)
        self.share = 100 * samples.get("a", 0) / self.nr if self.nr else None


def record(tailor, python, options, way, jit, folder, seconds):
    """The recording, and what the program measured."""
    env = dict(os.environ, PYTHON_JIT=str(jit))
    program = [*python, *options, HERE + "/python_shares.py"]
    trace = folder + "/t.tlr"
    if way == "run":
        return output(tailor, "run", "-q", "-e", "task-clock", "-o", trace, "--", *program, str(seconds), env=env), Recording(tailor, trace)
    with subprocess.Popen([*program, "1e9"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as host:
        try:
            while int(open(f"/proc/{host.pid}/stat").read().rpartition(")")[2].split()[11]) < os.sysconf("SC_CLK_TCK"):
                time.sleep(0.1)
            inject = ["--inject"] if way == "inject" else []
            subprocess.run([tailor, "attach", *inject, "-q", "-e", "task-clock", "-d", str(seconds), "-o", trace, str(host.pid)], check=True)
        finally:
            host.send_signal(signal.SIGTERM)
        said = host.communicate(timeout=60)[0]
    for left in glob.glob(f"/tmp/*-{host.pid}.*"): # -X perf's
        os.unlink(left)
    return said, Recording(tailor, trace)


def line(tailor, python, options, way, jit, folder, samples):
    seconds = 3
    while True:
        said, r = record(tailor, python, options, way, jit, folder, seconds)
        sentence = re.search(SENTENCE + r".*?\.(?= |$)", r.text)
        is_right = r.nr >= samples and abs(r.share - float(said)) <= WITHIN
        if is_right or sentence or r.nr >= 4 * samples or seconds > LONGEST_S: # what is only chance goes away
            break
        seconds *= 2
    what = f"{way:6}  JIT {'on ' if jit else 'off'}  {' '.join(options):8}"
    if sentence:
        return f"{what}  no names: N{sentence[0]}", True
    if not r.nr:
        return f"{what}  no names, and no sentence", False
    return f"{what}  {r.nr:6} samples  a() {r.share:.1f} % of a() and b(), measured by itself {float(said):.1f} %", is_right


def has_jit(python):
    ask = "import sys; print(int(hasattr(sys, '_jit') and sys._jit.is_available()))"
    return output(*python, "-c", ask).strip() == "1"


def lines(build, version="3.15", samples=SAMPLES, python=None):
    if not python:
        folder = os.path.abspath(ROOTS + "/python-unstable")
        fetch(folder, "unstable", "python" + version)
        lay_c_library_over(folder)
        python = [f"{folder}/root/usr/bin/python{version}"]
    yield output(*python, "-c", "import sys; print('CPython', sys.version)").strip(), True
    tailor = os.path.abspath(build + "/tailor")
    with tempfile.TemporaryDirectory() as folder:
        for jit in (0, 1) if has_jit(python) else (0,):
            for way in "run", "inject", "attach":
                yield line(tailor, python, [], way, jit, folder, samples)
        yield line(tailor, python, ["-X", "perf"], "attach", 0, folder, samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--version", default="3.15")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--python", type=str.split)
    a = parser.parse_args()
    wrong = 0
    try:
        for text, is_right in lines(a.build, a.version, a.samples, a.python):
            wrong += not is_right
            print(text if is_right else text + "  (wrong)", flush=True)
    except Skip as e:
        print("skipped, because", e)
        return 77
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
