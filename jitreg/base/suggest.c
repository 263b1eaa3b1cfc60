/* SPDX-License-Identifier: MIT */
#include "jitreg/base/suggest.h"

#include "jitreg/base/similar.h"
#include "jitreg/base/utf8.h"

#include <stdio.h>
#include <string.h>

#define LISTED 8u
#define LISTED_BYTES 48 /* maximum length of each listed name */

static uint32_t distance_of(const char *a, const char *b)
{
	return similar_distance(a, strnlen(a, SIMILAR_BYTES), b, strnlen(b, SIMILAR_BYTES));
}

/* Returns the distance of a name from the wanted one: that of the whole name, or that of its beginning of the same length plus one,
 * whichever is less.  So the beginning of a long name can be typed. */
static uint32_t distance_of_name(const char *wanted, const char *name)
{
	char begin[SIMILAR_BYTES + 1];
	uint32_t whole = distance_of(wanted, name), part;

	snprintf(begin, sizeof(begin), "%.*s", (int)strnlen(wanted, SIMILAR_BYTES), name);
	part = 1 + distance_of(wanted, begin);
	return part < whole ? part : whole;
}

static const char *find_nearest(const char *wanted, const char *const *name, uint32_t nr)
{
	uint32_t least = 2 + (uint32_t)strnlen(wanted, SIMILAR_BYTES) / 3;
	const char *nearest = NULL;

	for (uint32_t i = 0; *wanted && i < nr; i++) {
		uint32_t distance = !name[i] ? least : strcasestr(name[i], wanted) ? 1 : distance_of_name(wanted, name[i]);

		if (distance < least) {
			least = distance;
			nearest = name[i];
		}
	}
	return nearest;
}

/* Returns how many bytes of a name to list: at most `most`, and only whole characters. */
static int listed_bytes(const char *name, int most)
{
	int bytes = 0, next;

	while (name[bytes] && bytes + (next = utf8_next(name + bytes).bytes) <= most)
		bytes += next;
	return bytes;
}

const char *suggest(const char *wanted, const char *const *name, uint32_t nr, char *text, size_t bytes)
{
	const char *nearest = find_nearest(wanted, name, nr);
	uint32_t listed = 0, more = 0;
	size_t at = 0;

	*text = 0;
	if (nearest)
		at = (size_t)snprintf(text, bytes, "; nearest: '%.*s'", listed_bytes(nearest, 2 * LISTED_BYTES), nearest);
	for (uint32_t i = 0; i < nr; i++) {
		if (!name[i] || !*name[i])
			continue;
		if (listed == LISTED || at >= bytes)
			more++;
		else
			at += (size_t)snprintf(text + at, bytes - at, "%s'%.*s'", listed++ ? ", " : "; there are: ",
					       listed_bytes(name[i], LISTED_BYTES), name[i]);
	}
	if (more && at < bytes)
		snprintf(text + at, bytes - at, " and %u more", more);
	return text;
}
