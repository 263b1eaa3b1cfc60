/* SPDX-License-Identifier: MIT */
#include "jitreg/base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 64u /* characters that are compared */
#define LISTED 8u
#define LISTED_BYTES 48 /* of each */

/* Changes of a character that make one the other, without regard to case (V. Levenshtein, 1966). */
static uint32_t distance_of(const char *a, const char *b)
{
	uint32_t row[LONGEST + 1], nr_a = (uint32_t)strnlen(a, LONGEST), nr_b = (uint32_t)strnlen(b, LONGEST);

	for (uint32_t i = 0; i <= nr_b; i++)
		row[i] = i;
	for (uint32_t n = 1; n <= nr_a; n++) {
		uint32_t corner = row[0]++;

		for (uint32_t i = 1; i <= nr_b; i++) {
			uint32_t change = corner + (tolower((unsigned char)a[n - 1]) != tolower((unsigned char)b[i - 1]));

			corner = row[i];
			if (row[i] + 1 < change)
				change = row[i] + 1;
			row[i] = row[i - 1] + 1 < change ? row[i - 1] + 1 : change;
		}
	}
	return row[nr_b];
}

/* A name may go on behind what was typed. */
static uint32_t distance_of_name(const char *wanted, const char *name)
{
	char begin[LONGEST + 1];
	uint32_t whole = distance_of(wanted, name), part;

	snprintf(begin, sizeof(begin), "%.*s", (int)strnlen(wanted, LONGEST), name);
	part = 1 + distance_of(wanted, begin);
	return part < whole ? part : whole;
}

static const char *find_nearest(const char *wanted, const char *const *name, uint32_t nr)
{
	uint32_t least = 2 + (uint32_t)strnlen(wanted, LONGEST) / 3;
	const char *nearest = NULL;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t distance = !name[i] ? least : strcasestr(name[i], wanted) ? 1 : distance_of_name(wanted, name[i]);

		if (distance < least) {
			least = distance;
			nearest = name[i];
		}
	}
	return nearest;
}

const char *suggest(const char *wanted, const char *const *name, uint32_t nr, char *text, size_t bytes)
{
	const char *nearest = find_nearest(wanted, name, nr);
	uint32_t listed = 0, more = 0;
	size_t at = 0;

	*text = 0;
	if (nearest)
		at = (size_t)snprintf(text, bytes, "; nearest: '%.*s'", 2 * LISTED_BYTES, nearest);
	for (uint32_t i = 0; i < nr; i++) {
		if (!name[i] || !*name[i])
			continue;
		if (listed == LISTED || at >= bytes)
			more++;
		else
			at += (size_t)snprintf(text + at, bytes - at, "%s'%.*s'", listed++ ? ", " : "; there are: ", LISTED_BYTES, name[i]);
	}
	if (more && at < bytes)
		snprintf(text + at, bytes - at, " and %u more", more);
	return text;
}
