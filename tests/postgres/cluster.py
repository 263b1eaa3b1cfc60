# SPDX-License-Identifier: MIT
"""A PostgreSQL cluster of a test's own: made by an unprivileged user in a temporary folder, gone afterwards.

with Cluster() as c:
    c.load(0.2)                       TPC-H's tables
    with c.server(tailor=[...]):      the stock server; tailor: a command that it is started by
        s = c.session()
        rows = s.run("select ...")
"""
import glob
import hashlib
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = float(os.environ.get("PATIENCE_S", 300))
MARK = "-- end of the answer --"
# Settings that a test needs, and no others: everybody's own socket, no sharing with other servers, small enough for a shared machine.
SETTINGS = {"listen_addresses": "", "fsync": "off", "max_connections": "30"}


def binaries():
    """The folder of the newest server that is installed, or None."""
    found = [os.environ["PGBIN"]] if os.environ.get("PGBIN") else glob.glob("/usr/lib/postgresql/*/bin")
    found = [f for f in found if os.path.exists(f + "/initdb") and os.path.exists(f + "/postgres")]
    return max(found, key=lambda f: [int(n) for n in re.findall(r"\d+", f)] or [0], default=None)


def unprivileged():
    """The words in front of a command that is not to run as root, and the user's name."""
    if os.getuid():
        return [], pwd.getpwuid(os.getuid()).pw_name
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return ["setpriv", f"--reuid={name}", f"--regid={pwd.getpwnam(name).pw_gid}", "--init-groups", "--"], name
    return None, None


def wait_for(what, holds):
    begin = time.monotonic()
    while not (found := holds()):
        if time.monotonic() - begin > PATIENCE_S:
            raise RuntimeError(f"did not happen within {PATIENCE_S:.0f} s: {what}")
        time.sleep(0.01)
    return found


class Failed(RuntimeError):
    pass


class Session:
    """One connection: a psql that gets statements by a pipe."""

    def __init__(self, cluster, application="check", options="", database="postgres"):
        env = dict(os.environ, PGAPPNAME=application, PGOPTIONS=options)
        env.pop("LD_PRELOAD", None)
        self.psql = subprocess.Popen([cluster.bin + "/psql", "-X", "-q", "-A", "-t", "-h", cluster.socket, "-p", str(cluster.port), "-U",
                                      "postgres", "-d", database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     env=env, text=True)
        self.pid = int(self.run("select pg_backend_pid();"))

    def send(self, sql):
        self.psql.stdin.write(f"{sql}\n\\echo '{MARK}'\n")
        self.psql.stdin.flush()

    def answer(self):
        lines = []
        for line in self.psql.stdout:
            if line.rstrip("\n") == MARK:
                return "".join(lines)
            lines.append(line)
        raise Failed("the connection ended: " + "".join(lines[-5:]))

    def run(self, sql):
        self.send(sql)
        text = self.answer()
        if re.search(r"^(ERROR|FATAL|PANIC):", text, re.M):
            raise Failed(text.strip())
        return text

    def close(self):
        try:
            self.psql.stdin.close()
            self.psql.wait(PATIENCE_S)
        except (OSError, subprocess.TimeoutExpired):
            self.psql.kill()
        self.psql.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def rows_hash(text):
    """Of the rows in any order, since a parallel plan may deliver those that sort alike in another one."""
    return hashlib.sha256("\n".join(sorted(text.splitlines())).encode()).hexdigest()[:12]


class Server:
    def __init__(self, cluster, process, pid, output):
        self.cluster, self.process, self.pid, self.output = cluster, process, pid, output

    def printed(self):
        self.output.seek(0)
        return self.output.read()

    def background(self):
        """Processes of the server that serve no client."""
        with self.cluster.session() as s:
            return {self.pid} | {int(p) for p in s.run(
                "select pid from pg_stat_activity where backend_type not in ('client backend', 'parallel worker');").split()}

    def stop(self):
        """Returns what it (or the command that it was started by) printed."""
        if self.process.poll() is None:
            try:
                os.kill(self.pid, signal.SIGINT)  # fast: open transactions are aborted
            except ProcessLookupError:
                pass
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.kill(self.pid, signal.SIGQUIT)
            self.process.kill()
            raise
        self.process = None
        return self.printed()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.stop()


class Cluster:
    def __init__(self, port=None):
        self.bin = binaries()
        if not self.bin:
            raise LookupError("PostgreSQL's server is not installed (package postgresql)")
        self.user_words, self.user = unprivileged()
        if self.user_words is None:
            raise LookupError("PostgreSQL does not run as root, and there is no user postgres or nobody")
        self.version = int(re.search(r"\d+", subprocess.run([self.bin + "/postgres", "--version"], capture_output=True, text=True,
                                                                check=True).stdout)[0])
        self.port = port or 20000 + os.getpid() % 30000
        self.folder = tempfile.mkdtemp(prefix="tailor-pg-")
        self.socket, self.data = self.folder + "/socket", self.folder + "/data"
        self.servers = []
        try:
            os.chmod(self.folder, 0o755)
            for f in (self.socket, self.data):
                os.mkdir(f)
                if not os.getuid():
                    shutil.chown(f, self.user)
            self.as_user([self.bin + "/initdb", "-A", "trust", "-U", "postgres", "-D", self.data, "--no-sync"])
        except BaseException:
            self.remove()
            raise

    def writable(self, name):
        """A folder that the server's user may write to."""
        f = f"{self.folder}/{name}"
        os.makedirs(f, exist_ok=True)
        if not os.getuid():
            shutil.chown(f, self.user)
        return f

    def as_user(self, command):
        done = subprocess.run(self.user_words + command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, cwd=self.folder)
        if done.returncode:
            raise Failed(shlex.join(command) + ": " + done.stdout)
        return done.stdout

    def reachable(self, tailor):
        """The command, or a copy where the server's user may not enter its folder (in a home, say)."""
        parts = [tailor, *glob.glob(os.path.dirname(tailor) + "/tailor-record"), *glob.glob(os.path.dirname(tailor) + "/libtailor*.so")]
        if subprocess.run([*self.user_words, "test", "-r", parts[-1]], stderr=subprocess.DEVNULL).returncode == 0:
            return tailor
        folder = self.folder + "/tailor"
        if not os.path.exists(folder):
            os.mkdir(folder)
            os.chmod(folder, 0o755)
            for part in parts:
                shutil.copy(part, folder)
        return folder + "/tailor"

    def server(self, tailor=(), settings=None, env=None):
        """Starts it, waits until it answers.  tailor: a command in front, which runs as the server's user as well."""
        both = dict(SETTINGS, unix_socket_directories=self.socket, port=self.port, **(settings or {}))
        tailor = [self.reachable(tailor[0]), *tailor[1:]] if tailor else []
        command = [*self.user_words, *tailor, self.bin + "/postgres", "-D", self.data]
        for name, value in both.items():
            command += ["-c", f"{name}={value}"]
        output = tempfile.TemporaryFile("w+")  # a pipe that nobody reads would stop a server that logs much
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=self.folder,
                                   env=dict(os.environ, **(env or {})), start_new_session=True)
        server = Server(self, process, 0, output)
        self.servers.append(server)

        def ready():
            if process.poll() is not None:
                raise Failed(shlex.join(command) + f": exit {process.returncode}: " + server.printed())
            try:
                with open(self.data + "/postmaster.pid") as f:
                    lines = f.read().split("\n")
            except OSError:
                return None
            return int(lines[0]) if len(lines) > 7 and lines[7].strip() == "ready" else None

        server.pid = wait_for("the server answers", ready)
        return server

    def session(self, *a, **kw):
        return Session(self, *a, **kw)

    def load(self, scale):
        with self.server():
            done = subprocess.run([self.bin + "/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"scale={scale}", "-h", self.socket, "-p",
                                   str(self.port), "-U", "postgres", "-d", "postgres", "-f", HERE + "/data.sql"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise Failed("data.sql: " + done.stdout)

    def remove(self):
        for s in self.servers:
            if s.process:
                try:
                    s.stop()
                except Exception as e:  # the folder goes all the same
                    print(f"the server could not be stopped: {e}", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        # by a signal, too
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        return self

    def __exit__(self, *_):
        self.remove()


def queries(wanted=None):
    """{name: text} of TPC-H's queries, all or those named ("q01 q18", also "1,18")."""
    names = sorted(os.path.basename(f)[:-4] for f in glob.glob(HERE + "/queries/q*.sql"))
    if wanted:
        asked = ["q%02d" % int(w.lstrip("q")) for w in re.split(r"[\s,]+", wanted.strip())]
        unknown = [a for a in asked if a not in names]
        if unknown:
            sys.exit(f"there is no query {unknown[0]}: they are {names[0]} to {names[-1]}")
        names = asked
    return {n: open(f"{HERE}/queries/{n}.sql").read().strip() for n in names}
