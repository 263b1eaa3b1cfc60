/* SPDX-License-Identifier: MIT */
/*
 * Functions of a C++ library, called from C: what they throw ends here, so that a host that would not have called them never sees it.
 * Context: thread, outside the guard.
 */
#ifndef TAILOR_CXX_CALL_H
#define TAILOR_CXX_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* false: this process has no C++ runtime that can be used. */
bool cxx_find_functions(void);
/* function(a, b, c).  false: it has thrown. */
bool cxx_call(uint64_t function, uint64_t a, uint64_t b, uint64_t c);

/* libstdc++'s std::string, as it is passed. */
struct cxx_string {
	const char *text;
	size_t bytes;
	char own[16]; /* of short ones */
};
struct cxx_vector {
	uint64_t begin, end, capacity;
};
void cxx_string_free(struct cxx_string *s);
/* Frees a vector whose elements need no destruction. */
void cxx_vector_free(struct cxx_vector *v);

#endif
