/* SPDX-License-Identifier: MIT */
/* Names that look like one that does not exist: few edits apart, or one begins with the other. */
#include "agent/recorder/perf/event_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 64 /* longer names have no neighbours */
#define NEAR_MOST 3

struct near {
	const char *wanted;
	size_t wanted_bytes;
	int nr;
	struct {
		char name[NAME_MOST];
		unsigned distance;
	} best[NEAR_MOST];
};

/* Letters that must be changed, added or left out to get from one to the other, whatever their case. */
static unsigned edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	unsigned row[NAME_MOST + 1];

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

static void consider_similar_name(void *context, const char *name)
{
	struct near *n = context;
	size_t bytes = strlen(name);
	unsigned d;
	int at;

	if (bytes >= NAME_MOST)
		return;
	d = edit_distance(n->wanted, n->wanted_bytes, name, bytes);
	if (bytes > n->wanted_bytes && strncasecmp(name, n->wanted, n->wanted_bytes) == 0)
		d = 1;
	if (d > 1 + n->wanted_bytes / 4)
		return;
	for (at = 0; at < n->nr; at++)
		if (edit_distance(n->best[at].name, strlen(n->best[at].name), name, bytes) == 0)
			return; /* libpfm4 has the kernel's names as well, in capitals */
	for (at = 0; at < n->nr && n->best[at].distance <= d; at++)
		;
	if (at == NEAR_MOST)
		return;
	if (n->nr < NEAR_MOST)
		n->nr++;
	memmove(&n->best[at + 1], &n->best[at], (size_t)(n->nr - at - 1) * sizeof(n->best[0]));
	snprintf(n->best[at].name, sizeof(n->best[at].name), "%s", name);
	n->best[at].distance = d;
}

void event_suggest(const char *name, const struct event_pmu *pmu, event_names_fn names, char *text, size_t bytes)
{
	const char *colons = strstr(name, "::");
	struct near n = { .wanted = colons ? colons + 2 : name };
	int length;

	text[0] = 0;
	n.wanted_bytes = strcspn(n.wanted, ":");
	if (n.wanted_bytes < 3 || n.wanted_bytes >= NAME_MOST)
		return;
	names(pmu, consider_similar_name, &n);
	if (n.nr == 0)
		return;
	length = snprintf(text, bytes, "; similar names: ");
	for (int i = 0; i < n.nr && (size_t)length < bytes; i++)
		length += snprintf(text + length, bytes - (size_t)length, "%s%s", i ? ", " : "", n.best[i].name);
}
