/* SPDX-License-Identifier: MIT */
#include "analyzer/page/html_pairs.h"

#include "analyzer/output/escape.h"
#include "analyzer/output/json_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_LEVEL UINT32_MAX

void html_pairs_ask(struct html_pairs *p, struct report *r)
{
	if (!p->wanted)
		return;
	for (uint32_t l = 0; l < r->model->dictionary.nr_levels; l++)
		profile_ask_level(&p->question[l], r, l);
	profile_ask_level(&p->question[LEVELS_MAX], r, LEVELS_MAX);
}

/* Return the level of the second trace that has the name of this level of the first trace, or NO_LEVEL if there is none. */
static uint32_t find_second_level(const struct html_pairs *p, uint32_t first)
{
	uint32_t l = first == LEVELS_MAX ? LEVELS_MAX : 0;

	if (!p->trace[0].name[first])
		return NO_LEVEL;
	while (l <= LEVELS_MAX && !(p->trace[1].name[l] && strcmp(p->trace[1].name[l], p->trace[0].name[first]) == 0))
		l++;
	return l > LEVELS_MAX ? NO_LEVEL : l;
}

int html_pairs_keep(struct html_pairs *p, struct report *r, uint32_t number)
{
	struct html_profiles *t = &p->trace[number];
	int ret = 0;

	for (uint32_t l = 0; p->wanted && ret == 0 && l <= LEVELS_MAX; l++) {
		if (l < LEVELS_MAX && l >= r->model->dictionary.nr_levels)
			continue;
		t->name[l] = strdup(l < LEVELS_MAX ? report_level_name(r, l) : "");
		ret = t->name[l] ? profile_make(&p->question[l], r, "", &t->by[l]) : -ENOMEM;
	}
	for (uint32_t l = 0; p->wanted && number == 1 && ret == 0 && l <= LEVELS_MAX; l++) {
		uint32_t second = find_second_level(p, l);

		if (second != NO_LEVEL) {
			const struct profile both[2] = { p->trace[0].by[l], p->trace[1].by[second] };

			ret = match_make_lines(both, 2, &p->lines[l]);
		}
	}
	return ret;
}

static void put_entry_numbers(const struct match *m, const struct profile both[2], uint32_t profile, FILE *to)
{
	JSON_NEXT_LIST(to, profile ? "second" : "first", m->nr, const struct profile_entry *e = match_entry(m, both, i, profile);
		       fprintf(to, "%lld", e ? (long long)e->number : -1));
}

void html_pairs_put(const struct html_pairs *p, FILE *to)
{
	const char *comma = "";

	fputs("\"pairs\":[", to);
	for (uint32_t l = 0; l <= LEVELS_MAX; l++) {
		uint32_t second = find_second_level(p, l);
		const struct match *m = &p->lines[l];

		if (second == NO_LEVEL)
			continue;
		const struct profile both[2] = { p->trace[0].by[l], p->trace[1].by[second] };

		fprintf(to, "%s{\"level\":", comma);
		if (l == LEVELS_MAX)
			fputs("null", to);
		else
			escape_json_string(to, p->trace[0].name[l]);
		put_entry_numbers(m, both, 0, to);
		put_entry_numbers(m, both, 1, to);
		JSON_NEXT_LIST(to, "alike", m->nr, fputc('0' + match_is_alike(m, both, i), to));
		fputc('}', to);
		comma = ",";
	}
	fputs("],\n", to);
}

void html_pairs_fini(struct html_pairs *p)
{
	for (uint32_t l = 0; l <= LEVELS_MAX; l++)
		match_fini(&p->lines[l]);
	for (int t = 0; t < 2; t++)
		for (uint32_t l = 0; l <= LEVELS_MAX; l++) {
			free(p->trace[t].name[l]);
			profile_fini(&p->trace[t].by[l]);
		}
	memset(p, 0, sizeof(*p));
}
