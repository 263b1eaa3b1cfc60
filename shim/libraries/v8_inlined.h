/* SPDX-License-Identifier: MIT */
/*
 * Reads from V8's heap which functions were inlined where into code that V8 has just compiled.  V8 reports positions of that code, but
 * not of which function each one is.  Context: the isolate's thread, inside V8's report of the code, one thread at a time.
 */
#ifndef TAILOR_V8_INLINED_H
#define TAILOR_V8_INLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define V8_INLINED_MAX 512
#define V8_PLACES_MAX 8192 /* more places of one code object are not reported */

/* This struct is a position of code, as V8 reports it. From `offset` bytes on, the code is that of this character of a script. */
struct v8_place {
	uint32_t offset, position;
};

/* This struct is a call that was inlined.  It is number n of its code. */
struct v8_inlined {
	uint32_t position; /* position of the call, in the function around it */
	int in;		   /* number of the call by which that function was inlined; -1: it is the code's own function */
	uintptr_t info;	   /* the SharedFunctionInfo of the called function, until V8 is called again; 0: no place is in it */
};

struct v8_inlining {
	uint32_t nr_places;
	int nr;
	struct v8_place place[V8_PLACES_MAX];
	int16_t of[V8_PLACES_MAX]; /* for each place the number of the call that inlined it; -1: the place is the own function's */
	struct v8_inlined call[V8_INLINED_MAX];
};

/* Reads the places of the code at start, and the calls that were inlined into it.  info: the SharedFunctionInfo of its function.  places:
 * as V8 has reported them; NULL: it reported none, as for its middle compiler (Maglev).  Returns NULL if V8's objects are not as they are
 * expected, or if there is no memory.  The result is valid until the next call. */
const struct v8_inlining *v8_inlined_read(uint64_t start, uintptr_t info, const struct v8_place *places, uint32_t nr_places);

#endif
