/* SPDX-License-Identifier: MIT */
/*
 * This file lists what the agent reports about CPython's functions. It sends the key of an entry in a CONTROL record (JIT_CONTROL_PYTHON),
 * and the recorder writes the entry's sentence as a notice. Context: any.
 */
#ifndef TAILOR_PYTHON_NOTES_H
#define TAILOR_PYTHON_NOTES_H

#include "jitreg/hosts/jit_hosts.h"

#include <stdbool.h>
#include <stddef.h>

/* docs/python.md has the measurements, of a function of one line in seven builds. */
#define PYTHON_CALL_COST "a call takes longer: about 10 ns up to 3.10, 12 to 30 ns in 3.11, 30 ns and more from 3.12 on"

/*
 * Columns: constant, what the note is, sentence.  ANSWER: after the agent was injected into a running CPython, it sends one of these when
 * it has tried to register functions, whether that failed or not.  MISSING: functions have no names, and reports show the notice first.
 */
#define PYTHON_NOTES(X) \
	X(REGISTERED, ANSWER, \
	  "Python: functions registered through its frame evaluation function (PEP 523); " PYTHON_CALL_COST) \
	X(REGISTERED_LATE, ANSWER, \
	  "Python: functions registered through its frame evaluation function (PEP 523), but for those that were entered before; " \
	  PYTHON_CALL_COST) \
	X(REFUSED, ANSWER, \
	  "Python: functions have no names (another evaluation function is set, or an extension keeps data with code objects)") \
	X(JIT_WITHOUT_FRAMES, MISSING, \
	  JIT_NAMES_OF_PYTHON " unavailable where its JIT runs: the code of 3.14's has no unwind information, and call stacks end in it; " \
	  "PYTHON_JIT=0 in its environment gives names")

#define PYTHON_NOTE_(NAME, ...) PYTHON_NOTE_##NAME,
enum python_note { PYTHON_NOTES(PYTHON_NOTE_) NR_PYTHON_NOTES };
#undef PYTHON_NOTE_

enum python_note_is { PYTHON_NOTE_IS_ANSWER, PYTHON_NOTE_IS_MISSING };
struct python_note_meaning {
	const char *key; /* the constant without PYTHON_NOTE_ */
	enum python_note_is is;
	const char *sentence;
};
extern const struct python_note_meaning python_notes[NR_PYTHON_NOTES];

/* Parse the key that an agent has sent, which is untrusted.  Returns NULL if no note has it. */
const struct python_note_meaning *python_note_parse(const char *key, size_t bytes);

#endif
