# SPDX-License-Identifier: MIT
"""python_functions.py SECONDS: heavy() does three times the work of light(), by a function that both call, and through C (sorted).

What else happens before is what a profiler could change: it is printed.

python_functions.py in FOLDER: so it works until there is a file `enough`, prints what a profiler could change, makes `shown`, and works
until there is `ended`: then nothing of the profiler is left in the interpreter."""
import ctypes
import os
import sys
import threading
import time
import traceback


def leaf(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s


def key(x):
    return -x


def work():
    s = leaf(300) + sorted(range(100), key=key)[0]
    for i in range(600):
        s ^= i * 3
    return s


def heavy():
    return [work() for _ in range(9)]


def light():
    return [work() for _ in range(3)]


def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


def generator():
    try:
        yield 1
    except ValueError as e:
        yield repr(e)


def traced(x):
    y = x + 1
    return y


class FreedWith:
    """Data that an extension keeps with code objects: CPython calls its function for those that it kept something with, and no other."""

    def __init__(self):
        name = "_PyEval_RequestCodeExtraIndex" if hasattr(ctypes.pythonapi, "_PyEval_RequestCodeExtraIndex") else \
            "PyUnstable_Eval_RequestCodeExtraIndex"
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        self.freed = []
        self.on_freed = kind(self.freed.append)
        request = getattr(ctypes.pythonapi, name)
        request.argtypes, request.restype = (kind,), ctypes.c_ssize_t
        self.index = request(self.on_freed)
        self.set = getattr(ctypes.pythonapi, name.replace("Eval_RequestCodeExtraIndex", "Code_SetExtra"))
        self.set.argtypes = (ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p)

    def check(self):
        for i in range(6):  # kept before the code ran, after it, never
            exec(compile("def made(x): return x", "kept-%d" % i, "exec"), globals())
            if i % 3 == 0:
                self.set(made.__code__, self.index, 100 + i)
            made(i)
            if i % 3 == 1:
                self.set(made.__code__, self.index, 100 + i)
        made.__code__ = traced.__code__
        print("freed", self.freed)


def show_what_could_change():
    global freed_with  # its function is gone before some code is
    freed_with = FreedWith()
    freed_with.check()
    g = generator()
    print("recursion", depth(0), "generator", next(g), g.throw(ValueError("thrown")), next(g, "stopped"))
    events = []

    def trace(frame, event, arg):
        events.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
        return trace

    sys.settrace(trace)
    traced(1)
    sys.settrace(None)
    print(events)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os._exit(depth(0) % 100)
    results = [os.waitpid(child, 0)[1]]
    threads = [threading.Thread(target=lambda: results.append(leaf(1000))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(results)
    for i in range(1000):  # more functions than live at any time
        exec(compile("def made(x): return x", "made-%d" % i, "exec"), globals())
        made(i)
    if sys.version_info >= (3, 11):  # calls take no C stack
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(1000000)
        print("deep", down(50000))
        before = threading.stack_size(256 << 20)  # of which 50,000 calls through C would take no quarter
        thread = threading.Thread(target=lambda: print("deep in a thread", down(50000)))
        thread.start()
        thread.join()
        threading.stack_size(before)
        sys.setrecursionlimit(limit)
    try:
        {}["key"]
    except KeyError:
        traceback.print_exc()


def main():
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        heavy()
        light()


def evaluates_itself():
    api = ctypes.pythonapi
    if not hasattr(api, "_PyInterpreterState_GetEvalFrameFunc"):  # 3.8
        return True
    api.PyInterpreterState_Get.restype = api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
    own = ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p).value
    return api._PyInterpreterState_GetEvalFrameFunc(ctypes.c_void_p(api.PyInterpreterState_Get())) == own


def work_until(name):
    while not os.path.exists(os.path.join(sys.argv[2], name)):
        heavy()
        light()


if sys.argv[1] == "in":
    heavy()
    open(os.path.join(sys.argv[2], "works"), "w").close()
    work_until("enough")
    show_what_could_change()
    open(os.path.join(sys.argv[2], "shown"), "w").close()
    work_until("ended")
    for i in range(100):  # at one of the next calls
        heavy()
    print("evaluates itself:", evaluates_itself())
else:
    show_what_could_change()
    main()
sys.exit(23)
