/* SPDX-License-Identifier: MIT */
/*
 * The other ways of saying whom a call serves, for comparison with the register: a thread-local word around each call
 * (--tag memory), and nothing at all (--tag none).  An engine needs one way; these lines exist for tests and benchmarks.
 */
#ifndef ENGINE_COMPARE_H
#define ENGINE_COMPARE_H

#include "jitreg/jitreg.h"

/* Iterations, to compare those with that a report finds by itself. */
static inline void compare_iteration(uint32_t action, uint64_t number, uint64_t run)
{
	jitreg_mark(action, "iteration", 0, 0, number, run, 0, "");
}

uint64_t *compare_thread_word(void);
void compare_declare_word(const struct jitreg_tag_field *fields, uint32_t nr_fields);
/* Set the word for one statement; free of cost where no word is used. */
#define COMPARE_WITH_WORD(w, v) \
	for (uint64_t old_ = (w)->compare_word ? *(w)->compare_word : 0, once_ = 1; \
	     once_ ? ((w)->compare_word ? *(w)->compare_word = (v) : 0, 1) : 0; \
	     (w)->compare_word ? *(w)->compare_word = old_ : 0, once_ = 0)

#endif
