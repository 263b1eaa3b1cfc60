/* SPDX-License-Identifier: MIT */
/*
 * Names of the JVM's methods as people write them: "java.util.TimSort.sort", also where a perf map has a type in front and types behind.
 * The address in the name of a hidden class ("Cart$$Lambda.0x00007f2a44000a08") becomes its number among the classes of that name, in the
 * order of addresses, which is the one of their making; a class that the JVM numbered keeps that number alone.  Context: thread.
 */
#ifndef TAILOR_JAVA_NAMES_H
#define TAILOR_JAVA_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct hidden_name;

/* Names with a hidden class, until all are known. */
struct java_names {
	struct hidden_name *of;
	uint32_t nr, capacity;
};

/* A signature is dropped at once.  *name (heap, or NULL) may be replaced until java_names_settle().  false without memory. */
bool java_names_add(struct java_names *j, char **name, uint32_t process);
/* Give all hidden classes their numbers, and forget them.  false without memory: then they keep their addresses. */
bool java_names_settle(struct java_names *j);

#endif
