# SPDX-License-Identifier: MIT
"""llvmlite_host.py [--jitlink] SECONDS ROUNDS_FILE: fib() three times as often as bif(), compiled by llvmlite's LLJIT."""
import ctypes
import sys

import llvmlite.binding as llvm

from planted_loop import planted_loop

FUNCTION = """
define i64 @NAME(i64 %n) noinline {
  %small = icmp slt i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %n1 = sub i64 %n, 1
  %f1 = call i64 @NAME(i64 %n1)
  %n2 = sub i64 %n, 2
  %f2 = call i64 @NAME(i64 %n2)
  %sum = add i64 %f1, %f2
  ret i64 %sum
done:
  ret i64 %n
}
"""

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine(jit=True, codemodel="jitdefault")
jit = llvm.create_lljit_compiler(machine, use_jit_link="--jitlink" in sys.argv)
library = (llvm.JITLibraryBuilder().add_ir(FUNCTION.replace("NAME", "fib") + FUNCTION.replace("NAME", "bif"))
           .export_symbol("fib").export_symbol("bif").add_current_process().link(jit, "planted"))
fib, bif = (ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library[name]) for name in ("fib", "bif"))
planted_loop(fib, bif)
