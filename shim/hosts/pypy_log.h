/* SPDX-License-Identifier: MIT */
/* What PyPy's JIT prints of a loop or bridge, made into code, lines and frames.  Context: one thread at a time. */
#ifndef TAILOR_PYPY_LOG_H
#define TAILOR_PYPY_LOG_H

#include "shim/hosts/hosts.h"

/* More of the log, cut anywhere.  listening: not only read, but told. */
void pypy_log_read(const char *text, size_t bytes, bool listening);

/* The JIT's memory.  Only the first is looked at: it begins with the JIT's helpers. */
void pypy_log_note_mapping(uint64_t start, uint64_t bytes);

#endif
