# SPDX-License-Identifier: MIT
"""The screens of docs/top.md: `tailor top` on a Node program and on a PostgreSQL server, as root.

    /usr/bin/python3 tests/top_screens.py build

prints each as it is on a terminal of 80 columns.  Servers and load are its own, and go when it ends.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import Screen  # noqa: E402

B = os.path.abspath(sys.argv[1])
LINES, COLUMNS, PATIENCE_S = 12, 80, 120
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8")
ENVIRONMENT.pop("COLUMNS", None)

SHOP = """
function tax(n) { return n < 2 ? n : tax(n - 1) + tax(n - 2) }
function renderBasket() { let s = ''; for (let i = 0; i < 3000; i++) s += String.fromCharCode(65 + i % 26); return s.length }
function scoreItem(item, words) { let n = item; for (let i = 0; i < words; i++) n = Math.imul(n ^ i, 16777619); return n >>> 8 }
function searchCatalogue() { let best = 0; for (let i = 0; i < 3000; i++) best = Math.max(best, scoreItem(i, 60)); return best }
function serve() { const end = Date.now() + 70; while (Date.now() < end) { renderBasket(); searchCatalogue(); tax(19) } }
setInterval(serve, 100)
"""
SETUP = """create table lineitem(k int, price int, shipped int);
insert into lineitem select i % 50000, i % 1000, i % 2500 from generate_series(1, 400000) i;
create table orders(k int primary key, placed int); insert into orders select i, i % 2500 from generate_series(0, 49999) i;
vacuum analyze;"""
STATEMENTS = ["select o.placed, sum(l.price) from lineitem l join orders o on o.k = l.k where l.shipped > 800 group by 1 order by 2 desc limit 10;",
              "select count(*) from lineitem where price between 17 and 400;"]


def screen_of(title, arguments, keys, wanted):
    screen = Screen([f"{B}/tailor", "top", *arguments], ENVIRONMENT, LINES, COLUMNS)
    for key, text in zip(["", *keys], wanted):
        screen.type(key)
        if not screen.wait(lambda lines: text in "\n".join(lines), PATIENCE_S):
            print(f"'{text}' is not on the screen", *screen.text(), sep="\n", file=sys.stderr)
        seen = screen.text()
    end = time.monotonic() + 9  # a window that is full
    screen.wait(lambda lines: time.monotonic() > end, 15)
    seen = screen.text()
    screen.type("q")
    screen.wait_for_end(PATIENCE_S)
    print(f"$ {title}", *seen, "", sep="\n")


def node():
    folder = tempfile.mkdtemp()
    with open(f"{folder}/shop.js", "w", encoding="utf-8") as program:
        program.write(SHOP)
    screen_of("tailor top -- node shop.js", ["--window", "8", "--", "node", f"{folder}/shop.js"], [], ["tax"])
    host = subprocess.Popen(["node", "--perf-basic-prof", "shop.js"], env=ENVIRONMENT, cwd=folder)
    time.sleep(1)
    screen_of(f"tailor top --by callers --filter 'JS:' {host.pid}", ["--by", "callers", "--filter", "JS:", str(host.pid)], [], ["tax"])
    host.kill()
    shutil.rmtree(folder)


class Postgres:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        shutil.chown(self.folder, "postgres")
        self._run("initdb", "-A", "trust", "-D", f"{self.folder}/data")
        self._run("pg_ctl", "-w", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-o",
                  f"-k {self.folder} -c listen_addresses=''", "start")
        for statement in filter(str.strip, SETUP.split(";")): # vacuum is alone
            self._run("psql", "-q", "-h", self.folder, "postgres", "-c", statement)
        self.pid = int(open(f"{self.folder}/data/postmaster.pid").readline())
        self.load = subprocess.Popen(["runuser", "-u", "postgres", "--", "sh", "-c",
                                      f"yes \"{' '.join(STATEMENTS)}\" | psql -q -h {self.folder} postgres"], stdout=subprocess.DEVNULL,
                                     start_new_session=True)

    def _run(self, *words):
        subprocess.run(["runuser", "-u", "postgres", "--", *words], check=True, stdout=subprocess.DEVNULL, cwd="/")


    def end(self):
        os.killpg(self.load.pid, signal.SIGKILL)
        self._run("pg_ctl", "-m", "immediate", "-D", f"{self.folder}/data", "stop")
        shutil.rmtree(self.folder)


def postgres():
    server = Postgres()
    try:
        arguments = ["--window", "8", "--by", "queries", str(server.pid)]
        screen_of(f"tailor top --by queries {server.pid}", arguments, [], ["select"])
        screen_of("... and Enter: its plan's nodes", arguments, ["\r"], ["select", "  in select"])
    finally:
        server.end()


if __name__ == "__main__":
    node()
    postgres()
