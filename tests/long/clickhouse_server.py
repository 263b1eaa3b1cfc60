# SPDX-License-Identifier: MIT
"""clickhouse_server.py FOLDER PORT LOG: an engine of a current ClickHouse, chdb of PyPI, behind HTTP on loopback.

It serves what `tailor db` uses of ClickHouse's interface: a POST whose body is one statement, behind an INSERT its lines; parameters of the
address are settings.  LOG gets a line of JSON for each statement, with the rows that were read for it.  FOLDER keeps the tables.
"""
import http.server, json, os, re, sys, tempfile, threading, time, urllib.parse
from chdb import session

FOLDER, PORT, LOG = sys.argv[1], int(sys.argv[2]), sys.argv[3]
INSERT = re.compile(rb"(INSERT INTO [^\n]*?) FORMAT (\w+)\n", re.S)
LIKE_A_SERVER = 404, 500 # of an unknown table, column or database; of what else fails


class Engine:
    def __init__(self):
        self.session, self.turn = session.Session(FOLDER), threading.Lock()
        self.log = open(LOG, "a", buffering=1)

    def execute(self, statement, settings):
        """The answer's bytes and how many rows were read.  The engine has one set of settings, so that one statement runs at a time."""
        insert = INSERT.match(statement)
        with self.turn, tempfile.NamedTemporaryFile(dir=FOLDER) as lines:
            try:
                for name, value in settings.items():
                    self.session.query(f"SET {name} = '{value}'")
                if not insert:
                    done = self.session.query(statement.decode(), "TabSeparated")
                else: # lines may have bytes that are no UTF-8, which a statement must be
                    lines.write(statement[insert.end():])
                    lines.flush()
                    done = self.session.query(f"{insert[1].decode()} FROM INFILE '{lines.name}' FORMAT {insert[2].decode()}")
                return done.bytes(), done.storage_rows_read()
            finally:
                for name in settings:
                    self.session.query(f"SET {name} = DEFAULT")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        settings = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        statement = self.rfile.read(int(self.headers["Content-Length"]))
        begin, rows, status = time.monotonic(), 0, 200
        try:
            answer, rows = engine.execute(statement, settings)
        except Exception as failure:
            answer = str(failure).strip().encode() + b"\n"
            status = LIKE_A_SERVER[not re.match(rb"Code: (47|60|81)\.", answer)]
        engine.log.write(json.dumps({"statement": statement.split(b"\n")[0].decode(errors="replace"), "settings": settings, "read_rows": rows,
                                     "seconds": time.monotonic() - begin, "status": status}) + "\n")
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer or b"")))
        self.end_headers()
        self.wfile.write(answer or b"")

    def log_message(self, *_):
        pass


os.makedirs(FOLDER, exist_ok=True)
engine = Engine()
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
