/* SPDX-License-Identifier: MIT */
/*
 * planted_fault() is a deliberate fault in parsers. Tests use it to see what code that a malicious file runs through a fault could do
 * under the confinement (jitreg/confine). In the build for these tests (BUILD/planted/tailor), bytes that contain "planted:PARSER:"
 * trigger the acts named behind it (tests/plant/plant.c). In other builds, planted_fault() does nothing.
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
