/* SPDX-License-Identifier: MIT */
/*
 * Where a fault in a parser would let a file run code of its own.  In builds for tests alone (make PLANT=1), such a fault is there: bytes
 * that contain "planted:PARSER:" have the acts behind it done (tests/plant/plant.c).  Elsewhere this is nothing.
 */
#ifndef JITREG_PLANTED_H
#define JITREG_PLANTED_H

#include <stddef.h>

#ifdef TAILOR_PLANT
void planted_fault(const char *parser, const void *bytes, size_t nr);
#else
static inline void planted_fault(const char *parser, const void *bytes, size_t nr)
{
	(void)parser;
	(void)bytes;
	(void)nr;
}
#endif

#endif
