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
/* Calls function with these arguments.  *result is what it returned in rax.  false: it has thrown, and *result is untouched. */
#define CXX_ARGUMENTS 4
bool cxx_call(uint64_t function, const uint64_t argument[CXX_ARGUMENTS], uint64_t *result);

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
/* The std::string of libstdc++'s first ABI is a pointer to the text, whose length stands in front of it. */
#define CXX_OLD_STRING_BYTES_AT (-24)
#define CXX_OLD_STRING_NR_OTHERS_AT (-8) /* an int: how many others share the text; -1: it may not be shared */
/* Frees the text of such a string that a function has just returned. */
void cxx_old_string_free(const char *text);
/* Frees a vector whose elements need no destruction. */
void cxx_vector_free(struct cxx_vector *v);

#endif
