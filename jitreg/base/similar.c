/* SPDX-License-Identifier: MIT */
#include "jitreg/base/similar.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

unsigned similar_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	unsigned row[SIMILAR_BYTES + 1];

	for (size_t j = 0; j <= b_bytes; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_bytes; i++) {
		unsigned before = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_bytes; j++) {
			char x = (char)tolower((unsigned char)a[i - 1]), y = (char)tolower((unsigned char)b[j - 1]);
			unsigned change = before + !(x == y || (x == '-' && y == '_') || (x == '_' && y == '-'));

			before = row[j];
			row[j] = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
			if (change < row[j])
				row[j] = change;
		}
	}
	return row[b_bytes];
}

void similar_consider(struct similar *n, const char *name)
{
	size_t bytes = strlen(name);
	unsigned d;
	int at;

	if (bytes >= SIMILAR_BYTES || n->wanted_bytes < 3 || n->wanted_bytes >= SIMILAR_BYTES)
		return;
	d = similar_distance(n->wanted, n->wanted_bytes, name, bytes);
	if (bytes > n->wanted_bytes && strncasecmp(name, n->wanted, n->wanted_bytes) == 0)
		d = 1;
	if (d > 1 + n->wanted_bytes / 4)
		return;
	for (at = 0; at < n->nr; at++)
		if (similar_distance(n->best[at].name, strlen(n->best[at].name), name, bytes) == 0)
			return; /* the names are equal but for case, '-' and '_' */
	for (at = 0; at < n->nr && n->best[at].distance <= d; at++)
		;
	if (at == SIMILAR_MOST)
		return;
	if (n->nr < SIMILAR_MOST)
		n->nr++;
	memmove(&n->best[at + 1], &n->best[at], (size_t)(n->nr - at - 1) * sizeof(n->best[0]));
	snprintf(n->best[at].name, sizeof(n->best[at].name), "%s", name);
	n->best[at].distance = d;
}

void similar_put(const struct similar *s, const char *prefix, char *text, size_t bytes)
{
	int length;

	text[0] = 0;
	if (s->nr == 0)
		return;
	length = snprintf(text, bytes, "%s", prefix);
	for (int i = 0; i < s->nr && (size_t)length < bytes; i++)
		length += snprintf(text + length, bytes - (size_t)length, "%s%s", i ? ", " : "", s->best[i].name);
}
