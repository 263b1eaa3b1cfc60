/* SPDX-License-Identifier: MIT */
/* Writes a JSON list value by value, because it is too large to be made in memory first. Context: thread. */
#ifndef TAILOR_JSON_LIST_H
#define TAILOR_JSON_LIST_H

#include <stdint.h>
#include <stdio.h>

/* Write "key":[...] of nr values. The last argument is code that prints a value to `to`, in which i is the index of the value. */
#define JSON_LIST(to, key, nr, ...) \
	do { \
		fprintf(to, "\"%s\":[", key); \
		for (uint32_t i = 0; i < (nr); i++) { \
			if (i) \
				fputc(',', to); \
			__VA_ARGS__; \
		} \
		fputc(']', to); \
	} while (0)
/* Write the same after another member of its object, with a comma in front. */
#define JSON_NEXT_LIST(to, key, nr, ...) \
	do { \
		fputc(',', to); \
		JSON_LIST(to, key, nr, __VA_ARGS__); \
	} while (0)

#endif
