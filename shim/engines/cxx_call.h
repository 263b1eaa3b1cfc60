/* SPDX-License-Identifier: MIT */
/*
 * Calls functions of a C++ library from C. Exceptions that they throw are caught here, so that a host that would not have made these calls
 * never sees them. Context: thread, outside the guard, but any for cxx_find_functions().
 */
#ifndef TAILOR_CXX_CALL_H
#define TAILOR_CXX_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks up the functions of the C++ runtime, before any other function of this file is called. Returns false if this process has no usable
 * one. */
bool cxx_find_functions(void);
/* Calls function with these arguments.  *result is the value returned in rax.  Returns false if the function has thrown, and leaves *result
 * unchanged. */
#define CXX_ARGUMENTS 4
bool cxx_call(uint64_t function, const uint64_t argument[CXX_ARGUMENTS], uint64_t *result);

/* This is the std::string of libstdc++'s second ABI. A vector is the same in both ABIs. */
struct cxx_string {
	const char *text;
	size_t bytes;
	char own[16]; /* text of short strings */
};
struct cxx_vector {
	uint64_t begin, end, capacity;
};
/* Frees the text of a string that a function has returned, unless the text is short or there is none. */
void cxx_string_free(struct cxx_string *s);
/* The std::string of libstdc++'s first ABI is a pointer to the text, and the length is stored in front of the text. */
#define CXX_OLD_STRING_BYTES_AT (-24)
#define CXX_OLD_STRING_NR_OTHERS_AT (-8) /* an int, the number of other owners of the text; -1: the text may not be shared */
/* Frees the text of such a string that a function has just returned, unless the text is empty or has other owners. */
void cxx_old_string_free(const char *text);
/* Frees a vector whose elements need no destruction. */
void cxx_vector_free(struct cxx_vector *v);

#endif
