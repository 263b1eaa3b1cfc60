# SPDX-License-Identifier: MIT
# tests/golden/kinds.py FOLDER: small traces of programs of several kinds, FOLDER/KIND.tlr: what the default report makes of each.
import struct, sys
sys.path.insert(0, "tests")
from trace_file import HEADER, RECORDS, SAMPLES, Trace, deltas, leb, record, samples

BYTES, CODE, KERNEL = 64, 0x7f0000000000, -2**40  # addresses as signed numbers
PERIOD = 250000


def elf(symbols):
    """An object file with so many functions, one behind the other from 0x1000 on."""
    names = b"\0" + b"".join(s.encode() + b"\0" for s in symbols)
    table, at = bytes(24), 1
    for i, s in enumerate(symbols):
        table += struct.pack("<IBBHQQ", at, 0x12, 0, 1, 0x1000 + BYTES * i, BYTES)
        at += len(s.encode()) + 1
    sections = b"\0.text\0.symtab\0.strtab\0"
    size = BYTES * len(symbols)
    off_table = 120
    off_names = off_table + len(table)
    off_sections = off_names + len(names)
    off_headers = off_sections + len(sections)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x1000, 64, off_headers, 0, 64, 56, 1, 64, 4, 3)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x1000 + size, 0x1000 + size, 0x1000)
    def section(name, kind, flags, address, offset, nr, link, info, entry):
        return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, nr, link, info, 8, entry)
    headers = bytes(64) + section(1, 8, 6, 0x1000, 0x1000, size, 0, 0, 0) + section(7, 2, 0, 0, off_table, len(table), 3, 1, 24)
    headers += section(15, 3, 0, 0, off_names, len(names) + len(sections), 0, 0, 0)
    # the names of sections stand behind those of symbols, in one table
    headers = headers.replace(struct.pack("<II", 1, 8), struct.pack("<II", len(names) + 1, 8))
    headers = headers.replace(struct.pack("<II", 7, 2), struct.pack("<II", len(names) + 7, 2))
    headers = headers.replace(struct.pack("<II", 15, 3), struct.pack("<II", len(names) + 15, 3))
    return head + table + names + sections + headers


class Kind:
    """stacks: ([function...], samples), outermost first.  A function is "object!name", "name" of generated code, or "k!name" of the kernel."""
    def __init__(self, command):
        self.command, self.body, self.rows, self.objects, self.generated, self.kernel = command, b"", [], {}, {}, []
        self.time, self.bases = 2000, 0

    def process(self, pid, executable, command_line, objects=()):
        comm = executable.rsplit("/", 1)[-1][:15]
        self.body += record("PROCESS", pid, 1, executable, comm) + record("COMMAND_LINE", pid, command_line)
        for path in (executable, *objects):
            base = 0x400000 + 0x1000000 * len(self.objects) if path not in self.objects else self.objects[path][0]
            self.objects.setdefault(path, (base, []))
            self.body += record("MMAP", pid, base, 0x100000, 0, 5, path, b"", 1, 1 + list(self.objects).index(path), 0)
        return pid

    def address(self, pid, name):
        path, bang, function = name.rpartition("!")
        if path == "k":
            if function not in self.kernel:
                self.kernel.append(function)
            return KERNEL + BYTES * self.kernel.index(function) + 8
        if bang:
            (object_path,) = [o for o in self.objects if o.endswith("/" + path)]
            base, functions = self.objects[object_path]
            if function not in functions:
                functions.append(function)
            return base + 0x1000 + BYTES * functions.index(function) + 8
        if (pid, name) not in self.generated:
            at = CODE + BYTES * len(self.generated)
            self.generated[pid, name] = at
            text, _, line = name.partition("@")
            if line:
                file, number = line.rsplit(":", 1)
                self.body += record("DEBUG_INFO", pid, at, 1, [[at, int(number), 0, file]])
            self.body += record("LOAD", pid, pid, pid, at, at, BYTES, len(self.generated), text, b"\x90" * BYTES)
        return self.generated[pid, name] + 8

    def add(self, pid, stack, nr):
        frames = [self.address(pid, f) for f in stack.split(";")]
        user = [f for f in frames if f >= 0]
        kernel = [f for f in frames if f < 0]
        for _ in range(nr):
            self.time += PERIOD
            self.rows.append((self.time, pid, (kernel or user)[-1], 1 if kernel else 0, user[::-1][1:], kernel[::-1][1:], user[-1]))

    def write(self, path):
        head = record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 4, "/", [[w] for w in self.command.split()])
        head += record("EVENT", 0, 0, "task-clock", "ns", 1, 1, 0, 4000, 0, 0, 1 << 8, 0, "cpu", 0)
        for i, (object_path, (_, functions)) in enumerate(self.objects.items()):
            data = elf(functions)
            self.body += record("IMAGE_FILE", 0, object_path, object_path, b"", 0x100000, "", [[0, data]], 1, 1 + i, 0)
        if self.kernel:
            self.body += record("KERNEL_FUNCTIONS", 0, [[2**64 + KERNEL + BYTES * i, BYTES, f, ""] for i, f in enumerate(self.kernel)])
        t = Trace(None)
        t.add(RECORDS, head + self.body)
        rows = sorted(self.rows)
        column = lambda i: [r[i] for r in rows]
        table = sorted(set(column(2)))
        of = {ip: leb(i) for i, ip in enumerate(table)}
        kernel, before = b"", 0
        for r in rows:
            kernel += leb(len(r[5]))
            for a in r[5]:
                kernel += deltas([a - before])
                before = a
        t.add(SAMPLES, samples(len(rows), [
            (1, 2, deltas(column(0))), (2, 2, deltas(column(1))), (3, 2, deltas(column(1))),
            (5, 4, leb(len(table)) + deltas(table) + b"".join(of[ip] for ip in column(2))), (7, 3, leb(PERIOD)), (8, 2, deltas(column(3))), (9, 3, leb(2)),
            (64 + 8, 2, deltas(column(6))), (12, 2, deltas(len(r[4]) for r in rows)), (13, 2, deltas(a for r in rows for a in r[4])), (128, 8, kernel)]))
        t.write(path)


def node(pids):
    k = Kind("node server.js")
    express = "/app/node_modules/express/lib/router/"
    for n, pid in enumerate(pids):
        k.process(pid, "/usr/bin/node", "node server.js", ["/usr/lib/libc.so.6"])
        listen = ("node!main;node!node::Start(int, char**);JS:*emit node:events:471:44;JS:*parserOnHeadersComplete node:_http_common:71:33;"
                  f"JS:*handle {express}layer.js:86:49;JS:*next {express}index.js:177:16")
        for handler, line, nr in ("searchHandler", 22, 150), ("listHandler", 26, 90), ("detailHandler", 30, 60):
            k.add(pid, f"{listen};JS:*{handler} /app/server.js:{line}:23;JS:*work /app/server.js:16:14", nr - 20 * n)
        k.add(pid, f"{listen};JS:*json {express}response.js:250:40;libc.so.6!write;k!do_syscall_64;k!tcp_sendmsg", 30)
        k.add(pid, "node!main;node!v8::internal::Scavenger::Process(v8::JobDelegate*)", 20)
        k.add(pid, "node!main;node!v8::internal::compiler::PipelineImpl::Run()", 40)
        k.add(pid, "node!main;node!Builtins_LoadIC", 25)
    return k


def java(without_file=0):
    k = Kind("java -cp h2.jar:. com.example.shop.Main")
    pid = k.process(300, "/usr/lib/jvm/java-17/bin/java", k.command, ["/usr/lib/jvm/java-17/lib/server/libjvm.so"])
    main = "java!main;libjvm.so!JavaCalls::call_helper;call_stub;com.example.shop.Main.main@Main.java:9"
    for report, nr in ("sales", 150), ("stock", 90), ("returns", 60):
        k.add(pid, f"{main};com.example.shop.Reports.{report}@Reports.java:20;org.h2.jdbc.JdbcPreparedStatement.executeQuery@JdbcPreparedStatement.java:70;"
                   "org.h2.table.TableFilter.next@TableFilter.java:501", nr)
    k.add(pid, f"{main};java.lang.ClassLoader.defineClass1", without_file)
    k.add(pid, "libjvm.so!CompileBroker::compiler_thread_loop();libjvm.so!PhaseChaitin::Register_Allocate()", 60)
    k.add(pid, "libjvm.so!VM_G1CollectForAllocation::doit()", 15)
    return k


def embedded():
    k = Kind("uwsgi --wsgi-file app.py")
    pid = k.process(450, "/usr/bin/uwsgi-core", k.command, ["/usr/lib/libpython3.11.so.1.0", "/usr/lib/uwsgi/plugins/python3_plugin.so"])
    evaluate = "libpython3.11.so.1.0!_PyEval_EvalFrameDefault"
    main = f"uwsgi-core!uwsgi_ignition;uwsgi-core!http_parse;python3_plugin.so!uwsgi_request_wsgi;py::application:app.py@app.py:8;{evaluate}"
    for handler, line, nr in ("search", 5, 150), ("listing", 6, 90), ("item", 7, 60):
        k.add(pid, f"{main};py::{handler}:app.py@app.py:{line};{evaluate};py::spin:app.py@app.py:1;{evaluate}", nr)
    k.add(pid, "uwsgi-core!uwsgi_ignition;uwsgi-core!http_parse", 20)
    return k


def python():
    k = Kind("python3 shop.py")
    pid = k.process(400, "/usr/bin/python3.11", k.command, ["/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so"])
    evaluate = "python3.11!_PyEval_EvalFrameDefault"
    main = f"python3.11!Py_BytesMain;{evaluate};py::<module>:/app/shop.py@/app/shop.py:1;{evaluate};py::serve:/app/shop.py@/app/shop.py:37;{evaluate}"
    for handler, line, nr in ("search_handler", 25, 150), ("list_handler", 29, 90), ("detail_handler", 33, 60):
        at = f"{main};py::{handler}:/app/shop.py@/app/shop.py:{line};{evaluate}"
        k.add(pid, f"{at};py::step:/app/shop.py@/app/shop.py:15;{evaluate}", nr - 30)
        k.add(pid, f"{at};py::sort:/usr/lib/python3/dist-packages/numpy/core/fromnumeric.py@/usr/lib/python3/dist-packages/numpy/core/fromnumeric.py:878;"
                   f"{evaluate};_multiarray_umath.so!npy_quicksort", 30)
    k.add(pid, "python3.11!Py_BytesMain;python3.11!gc_collect_main", 12)
    return k


def workers():
    """A parent that forked two processes: functions and lines of one name are in both."""
    k = Kind("python3 workers.py")
    evaluate = "python3.11!_PyEval_EvalFrameDefault"
    for n in range(3):
        pid = k.process(420 + n, "/usr/bin/python3.11", k.command)
        main = f"python3.11!Py_BytesMain;{evaluate};py::<module>:/app/workers.py@/app/workers.py:1;{evaluate}"
        if n:
            k.add(pid, f"{main};py::price:/app/workers.py@/app/workers.py:4;{evaluate}", 130 + 30 * n)
            k.add(pid, f"{main};py::tax:/app/workers.py@/app/workers.py:12;{evaluate}", 20)
        else:
            k.add(pid, main, 4)
    return k


def c_program():
    k = Kind("git log --stat")
    pid = k.process(500, "/usr/bin/git", k.command, ["/usr/lib/libz.so.1", "/usr/lib/libc.so.6"])
    main = "git!_start;libc.so.6!__libc_start_main;git!main;git!cmd_log"
    k.add(pid, f"{main};git!diff_flush;git!unpack_entry;libz.so.1!inflate", 200)
    k.add(pid, f"{main};git!diff_flush;git!xdl_do_diff", 120)
    k.add(pid, f"{main};git!get_revision;libc.so.6!malloc", 40)
    k.add(pid, f"{main};git!get_revision;libc.so.6!memcpy;k!asm_exc_page_fault;k!handle_mm_fault", 40)
    return k


def cxx():
    k = Kind("./shop")
    pid = k.process(600, "/opt/shop", k.command, ["/usr/lib/libstdc++.so.6"])
    main = "shop!main"
    for method, nr in ("search", 150), ("list", 90), ("detail", 60):
        k.add(pid, f"{main};shop!_ZN4shop5Store{len(method)}{method}Ev;shop!_ZN4shop5Store4workEi;"
                   "shop!_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIiSaIiEESt4lessIS5_ESaISt4pairIKS5_S8_EEEixEOS5_", nr)
    return k


def go():
    k = Kind("./shop-go")
    pid = k.process(700, "/opt/shop-go", k.command)
    main = "shop-go!runtime.goexit.abi0;shop-go!runtime.main;shop-go!main.main"
    for method, nr in ("search", 150), ("list", 90), ("detail", 60):
        k.add(pid, f"{main};shop-go!main.(*store).{method};shop-go!main.(*store).work;shop-go!sort.Strings;shop-go!slices.pdqsortOrdered[go.shape.string]", nr)
    k.add(pid, "shop-go!runtime.gcBgMarkWorker;shop-go!runtime.scanobject", 40)
    return k


def build():
    k = Kind("make -j2")
    gcc = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1"
    pid = k.process(800, "/usr/bin/make", "make -j2")
    k.add(pid, "make!main;make!job_next_command", 3)
    for i, (file, nr) in enumerate({"lvm.c": 90, "lapi.c": 40, "lcode.c": 35, "lgc.c": 30, "lparser.c": 28, "ltable.c": 22, "lua.c": 9}.items()):
        pid = k.process(810 + i, gcc, f"{gcc} -quiet -I . -D LUA_USE_POSIX {file} -quiet -dumpbase {file} -O2 -o /tmp/cc{i}.s")
        k.add(pid, "cc1!main;cc1!toplev::main;cc1!execute_one_pass(opt_pass*);cc1!dom_walker::walk", nr // 2)
        k.add(pid, "cc1!main;cc1!toplev::main;cc1!c_parse_file()", nr - nr // 2)
        pid = k.process(830 + i, "/usr/bin/as", f"as --64 -o {file[:-1]}o /tmp/cc{i}.s")
        k.add(pid, "as!main;as!read_a_source_file", 2)
    return k


def machine():
    """A whole machine: a build, a Python program, and a database with a hundredth of the samples."""
    k = build()
    k.command = ""
    pid = k.process(880, "/usr/lib/postgresql/15/bin/postgres", "postgres: shop")
    query, node, common = 1, 2, 4
    k.body += record("GUEST", pid, "test", 1 << 20)
    for level, name, upper in (query, "query", []), (node, "node", [[query]]):
        k.body += record("LEVEL", pid, level, int(name == "node"), name, upper)
    for level, n, name in (query, 1, "select sum(amount) from orders"), (node, 1, "Aggregate"), (node, 2, "Seq Scan on orders"):
        k.body += record("COMPONENT", pid, level, common, n, name, "")
    for n in 1, 2:
        k.body += record("LINK", pid, node, query, n, 1, 1, 0)
    k.body += record("EDGE", pid, node, 2, 1, 0, 0, "")
    k.add(pid, "postgres!main;scan", 4)
    k.body += record("CODE_MAP", pid, k.address(pid, "scan") - 8, 0, [[0, node, 2]])
    evaluate = "python3.11!_PyEval_EvalFrameDefault"
    pid = k.process(890, "/usr/bin/python3.11", "python3 shop.py")
    k.add(pid, f"python3.11!Py_BytesMain;{evaluate};py::serve:/app/shop.py@/app/shop.py:37;{evaluate}", 120)
    return k


def interpreter():
    """A whole machine with Python, whose functions have no names there, beside Node, whose functions have."""
    k = node([200])
    k.command = ""
    pid = k.process(895, "/usr/bin/python3.11", "python3 shop.py")
    k.add(pid, "python3.11!Py_BytesMain;python3.11!_PyEval_EvalFrameDefault", 300)
    return k


def spark():
    """As `tailor plan` makes it of an event log: two queries, the first of which has a function in Python, and work outside of queries."""
    k = Kind("python3 job.py")
    pid = k.process(900, "/usr/lib/jvm/java-17/bin/java", k.command, ["/usr/lib/jvm/java-17/lib/server/libjvm.so"])
    workers = k.process(901, "/usr/bin/python3", "python3 -m pyspark.daemon")
    k.body += record("GUEST", pid, "test", 1 << 20)
    query, task, operator, common = 1, 2, 3, 4
    for level, name, upper in (query, "query", []), (task, "task", [[query]]), (operator, "operator", [[query]]):
        k.body += record("LEVEL", pid, level, int(name == "operator"), name, upper)
    for level, n, name, detail in ((query, 1, "my query", ""), (query, 2, "other", ""), (task, 1, "task 0 of stage 0", ""), (task, 2, "task 1 of stage 1", ""),
                                   (task, 3, "Python workers of stage 0", ""), (operator, 1, "HashAggregate", "(keys=[k#1], functions=[count(1)])"),
                                   (operator, 2, "BatchEvalPython", "[f(id#0)]"), (operator, 3, "Range", "(0, 100)")):
        k.body += record("COMPONENT", pid, level, common, n, name, detail)
    for lower_level, lower, upper in (task, 1, 1), (task, 2, 2), (task, 3, 1), (operator, 1, 1), (operator, 2, 1), (operator, 3, 2):
        k.body += record("LINK", pid, lower_level, query, lower, upper, 1, 0)
    k.body += record("EDGE", pid, operator, 2, 1, 0, 0, "")
    for of, pattern, n in (1, "Gen.agg", 1), (1, "_Py", 2), (2, "Gen.range", 3):
        k.body += record("PLAN_CODE", pid, query, of, pattern, 0, operator, 0, 0, 0, [[0, 0, n, ""]])
    marks = iter(range(1, 10))

    def mark(name, level, component, parent, stack, on, nr):
        number = 1 << 63 | next(marks)
        fields = level, component, number & 7, 0, 0, name, "", number, parent, 1 if on else 3, 0
        k.body += record("MARK", on or pid, 1, *fields, time_ns=k.time + 1)
        if on:
            k.add(on, stack, nr)
        else:
            mark(*stack[0], number, *stack[1:], nr)
        k.body += record("MARK", on or pid, 2, *fields, time_ns=k.time + 1)

    main = "java!main;libjvm.so!JavaCalls::call_helper"
    k.add(pid, f"{main};JobMain.read", 500)
    mark("run", query, 1, 0, (("task", task, 1), f"{main};Gen.agg", pid), 0, 60)
    mark("run", query, 1, 0, (("task", task, 3), "python3!Py_BytesMain;python3!_PyEval_EvalFrameDefault", workers), 0, 200)
    mark("run", query, 2, 0, (("task", task, 2), f"{main};Gen.range", pid), 0, 100)
    return k


LACK = ("SQLite 3.46.1: instructions of statements are missing, because it is newer than the version verified (3.40). Samples belong to statements; "
        "sqlite3's .scanstats vm has times of instructions")


def sqlite():
    """Where the library does not tell which instruction runs: samples are statements', but for what is no instruction's."""
    k = Kind("python3 shop.py")
    pid = k.process(950, "/usr/bin/python3.11", k.command, ["/usr/lib/libsqlite3.so.0"])
    query, opcode, common = 1, 2, 4
    k.body += record("GUEST", pid, "test", 1 << 20)
    for sentence in ("SQLite 3.46.1: statements and their instructions registered as they are prepared", "one", "two", "three",
                     LACK):
        k.body += record("NOTICE", pid, "version" if sentence == LACK else "host", sentence)
    k.body += record("HOST_LACK", pid, "SQLite", "3.46.1", "instructions of statements",
                     "it is newer than the version verified (3.40)", "", "sqlite3's .scanstats vm has times of instructions", "")
    for level, name, upper in (query, "query", []), (opcode, "opcode", [[query]]):
        k.body += record("LEVEL", pid, level, int(name == "opcode"), name, upper)
    for level, n, name in (query, 1, "select sum(price) from orders where day = ?"), (query, 2, "insert into orders values (?, ?)"), (opcode, 1, "(commit)"), (opcode, 2, "4 Column orders.3"):
        k.body += record("COMPONENT", pid, level, common, n, name, "")
    k.body += record("LINK", pid, opcode, query, 2, 1, 1, 0)
    for name, level, n, nr in ("select", query, 1, 900), ("insert", query, 2, 99), ("commit", opcode, 1, 1):
        k.add(pid, f"python3.11!Py_BytesMain;{name}", nr)
        k.body += record("CODE_MAP", pid, k.address(pid, name) - 8, 0, [[0, level, n]])
    return k


KINDS = {"node": lambda: node([200]), "cluster": lambda: node([201, 202, 203]), "java": java, "native": lambda: java(25), "python": python, "workers": workers, "embedded": embedded, "c": c_program, "c++": cxx, "go": go,
         "build": build, "machine": machine, "interpreter": interpreter, "spark": spark, "sqlite": sqlite}
for name, make in KINDS.items():
    make().write(f"{sys.argv[1]}/{name}.tlr")
