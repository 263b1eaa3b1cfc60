/* SPDX-License-Identifier: MIT */
/*
 * Makes names of the JVM's methods readable.  A method is named like "java.util.TimSort.sort", without the result type before it and the
 * parameter types after it that a perf map has.  The address in the name of a hidden class ("Cart$$Lambda.0x00007f2a44000a08") is replaced
 * by the number of the class among those of that name, in the order of addresses, which is the order in which they were created.  If the
 * JVM has given the class a number, the address is removed.  Context: thread.
 */
#ifndef TAILOR_JAVA_NAMES_H
#define TAILOR_JAVA_NAMES_H

#include "jitreg/base/grow.h"
#include <stdbool.h>
#include <stdint.h>

struct hidden_name;

/* Names with hidden classes are collected here until all are known. */
struct java_names {
	ARRAY_OF(struct hidden_name);
};

/* Drops the signature of *name (on the heap, or NULL) at once.  A name with a hidden class is replaced in java_names_settle(), so name
 * must stay valid until then.  Returns false if memory ran out. */
bool java_names_add(struct java_names *j, char **name, uint32_t process);
/* Gives all hidden classes their numbers, and empties *j. If memory ran out, returns false, and the names keep their addresses. */
bool java_names_settle(struct java_names *j);

#endif
