/* SPDX-License-Identifier: MIT */
#include "analyzer/objects/plan_code.h"

#include "jitreg/base/grow.h"
#include "jitreg/trace/put.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PATTERNS_A_STEP 16
#define ENTRIES_A_STEP 8

static uint32_t get_pattern(struct plan_codes *p, const char *text, size_t bytes)
{
	p->steps += p->patterns.nr / PATTERNS_A_STEP;
	for (uint32_t i = 0; i < p->patterns.nr; i++)
		if (p->patterns.at[i].bytes == bytes && memcmp(p->patterns.at[i].text, text, bytes) == 0)
			return i + 1;
	if (!bytes || p->patterns.nr == PLAN_CODE_PATTERNS_MAX || !ARRAY_GROW(p->patterns))
		return 0;
	p->patterns.at[p->patterns.nr] = (struct plan_pattern){ strndup(text, bytes), bytes };
	return p->patterns.at[p->patterns.nr].text ? ++p->patterns.nr : 0;
}

static void free_entries(struct plan_code *c)
{
	for (uint32_t i = 0; i < c->nr_entries; i++)
		free(c->entry[i].rest);
	free(c->entry);
}

static bool read_entries(struct plan_code *c, const struct trace_value *list)
{
	c->entry = list->u <= UINT32_MAX ? calloc(list->u + 1, sizeof(*c->entry)) : NULL;
	for (uint64_t i = 0; c->entry && i < list->u; i++) {
		struct plan_code_entry *e = &c->entry[i];
		struct trace_value rest = trace_element(list, i, 3);

		e->first_line = (uint32_t)trace_element(list, i, 0).u;
		e->last_line = (uint32_t)trace_element(list, i, 1).u;
		e->component = trace_element(list, i, 2).u;
		e->rest = strndup(rest.kind == TRACE_TEXT ? rest.p : "", rest.kind == TRACE_TEXT ? rest.bytes : 0);
		c->nr_entries++;
		if (!e->rest)
			return false;
	}
	return c->entry;
}

void plan_codes_read(struct plan_codes *p, uint32_t process, const struct trace_record *r)
{
	const int at = F(plan_code, entries);
	size_t bytes;
	const char *text = trace_bytes(r, F(plan_code, pattern), &bytes);
	const char *zero = memchr(text, 0, bytes);
	struct plan_code c = { .process = process,
			       .rank = (uint32_t)trace_u64(r, F(plan_code, rank)),
			       .level = (uint32_t)trace_u64(r, F(plan_code, level)),
			       .lines_level = (uint32_t)trace_u64(r, F(plan_code, lines_level)),
			       .lines_first = trace_u64(r, F(plan_code, lines_first)),
			       .nr_lines = (uint32_t)trace_u64(r, F(plan_code, nr_lines)) };
	uint32_t pattern;

	if (at >= r->nr_values || r->values[at].kind != TRACE_LIST)
		return;
	pattern = get_pattern(p, text, zero ? (size_t)(zero - text) : bytes);
	if (!pattern || !ARRAY_GROW(p->codes))
		return;
	if (!read_entries(&c, &r->values[at])) {
		free_entries(&c);
		return;
	}
	if (trace_u64(r, F(plan_code, context)))
		p->context_level = (uint32_t)trace_u64(r, F(plan_code, context_level));
	p->codes.at[p->codes.nr++] = c;
	hash_map_set(&p->of, pattern, trace_u64(r, F(plan_code, context)), p->codes.nr);
}

void plan_codes_fini(struct plan_codes *p)
{
	for (uint32_t i = 0; i < p->patterns.nr; i++)
		free(p->patterns.at[i].text);
	for (uint32_t i = 0; i < p->codes.nr; i++)
		free_entries(&p->codes.at[i]);
	free(p->patterns.at);
	free(p->codes.at);
	hash_map_fini(&p->of);
}

uint32_t plan_codes_pattern(struct plan_codes *p, const char *function)
{
	uint32_t longest = 0;

	p->steps += p->patterns.nr / PATTERNS_A_STEP;
	for (uint32_t i = 0; i < p->patterns.nr; i++) {
		const struct plan_pattern *at = &p->patterns.at[i];

		if (strncmp(function, at->text, at->bytes) != 0 || (longest && p->patterns.at[longest - 1].bytes >= at->bytes))
			continue;
		if (!isdigit((unsigned char)at->text[at->bytes - 1]) || !isdigit((unsigned char)function[at->bytes]))
			longest = i + 1;
	}
	return longest;
}

const struct plan_code *plan_codes_find(const struct plan_codes *p, uint32_t pattern, uint64_t context)
{
	uint32_t i = pattern && context ? hash_map_find(&p->of, pattern, context) : 0;

	i = i || !pattern ? i : hash_map_find(&p->of, pattern, 0);
	return i ? &p->codes.at[i - 1] : NULL;
}

uint64_t plan_code_component(struct plan_codes *p, const struct plan_code *c, uint32_t pattern, const char *function, uint32_t line)
{
	const char *rest = function + p->patterns.at[pattern - 1].bytes;

	rest += *rest != 0;
	p->steps += c->nr_entries / ENTRIES_A_STEP;
	for (uint32_t i = 0; i < c->nr_entries; i++) {
		const struct plan_code_entry *e = &c->entry[i];

		if (e->last_line && (line < e->first_line || line > e->last_line))
			continue;
		if (strncmp(rest, e->rest, strlen(e->rest)) == 0)
			return e->component;
	}
	return 0;
}
