# SPDX-License-Identifier: MIT
"""wasm.py wasmtime|wasmer [--perfmap] SECONDS ROUNDS_FILE: fib() three times as often as bif(), as WebAssembly with a name section."""
import sys

from planted_loop import planted_loop


def section(number, content):
    return bytes([number, len(content)]) + content


def function(number):
    content = bytes([0, 0x20, 0, 0x41, 2, 0x48, 4, 0x7f, 0x20, 0, 5, 0x20, 0, 0x41, 1, 0x6b, 0x10, number,
                     0x20, 0, 0x41, 2, 0x6b, 0x10, number, 0x6a, 0xb, 0xb])
    return bytes([len(content)]) + content


NAMES = b"\x02\x00\x03fib\x01\x03bif"
MODULE = (b"\0asm\1\0\0\0" + section(1, b"\x01\x60\x01\x7f\x01\x7f") + section(3, b"\x02\0\0")
          + section(7, b"\x02\x03fib\0\0\x03bif\0\1") + section(10, b"\x02" + function(0) + function(1))
          + section(0, b"\x04name\x01" + bytes([len(NAMES)]) + NAMES))


def with_wasmtime(perfmap):
    import wasmtime
    config = wasmtime.Config()
    if perfmap:
        config.profiler = "perfmap"
    store = wasmtime.Store(wasmtime.Engine(config))
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, MODULE), []).exports(store)
    return lambda n: exports["fib"](store, n), lambda n: exports["bif"](store, n)


def with_wasmer(_):
    import wasmer
    import wasmer_compiler_cranelift
    store = wasmer.Store(wasmer.engine.JIT(wasmer_compiler_cranelift.Compiler))
    exports = wasmer.Instance(wasmer.Module(store, MODULE)).exports
    return exports.fib, exports.bif


fib, bif = {"wasmtime": with_wasmtime, "wasmer": with_wasmer}[sys.argv[1]]("--perfmap" in sys.argv)
planted_loop(fib, bif)
