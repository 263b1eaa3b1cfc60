/* SPDX-License-Identifier: MIT */
/* A JSON list that is written value by value, because it is too large to be made in memory first. */
#ifndef TAILOR_JSON_LIST_H
#define TAILOR_JSON_LIST_H

#include <stdint.h>
#include <stdio.h>

/* Write "key":[...] of nr values. The last argument prints a value to `to`; i is the number of the value. */
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
/* Write the same list behind another key of its object. */
#define JSON_NEXT_LIST(to, key, nr, ...) \
	do { \
		fputc(',', to); \
		JSON_LIST(to, key, nr, __VA_ARGS__); \
	} while (0)

#endif
