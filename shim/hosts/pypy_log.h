/* SPDX-License-Identifier: MIT */
/* Makes code, lines and frames from what PyPy's JIT prints about a loop or bridge. Context: a thread with the interpreter's lock, but any
 * for pypy_log_note_mapping(). */
#ifndef TAILOR_PYPY_LOG_H
#define TAILOR_PYPY_LOG_H

#include "shim/hosts/hosts.h"

/* Reads the next piece of the log, which may begin and end within a line.  Without listening, nothing is registered, and lines that end in
 * this piece are dropped. */
void pypy_log_read(const char *text, size_t bytes, bool listening);

/* Notes a mapping of the JIT's memory. Only the first is used, because it begins with the JIT's helpers. */
void pypy_log_note_mapping(uint64_t start, uint64_t bytes);

#endif
