/* SPDX-License-Identifier: MIT */
/* A file of /proc or /sys that holds one number.  Context: thread. */
#ifndef TAILOR_PROC_NUMBER_H
#define TAILOR_PROC_NUMBER_H

#include <stdbool.h>
#include <stdio.h>

/* false: it cannot be read, or is none; *value is as it was. */
static inline bool proc_number(const char *path, long long *value)
{
	FILE *f = fopen(path, "re");
	bool read = f && fscanf(f, "%lld", value) == 1;

	if (f)
		fclose(f);
	return read;
}

#endif
