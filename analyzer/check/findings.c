/* SPDX-License-Identifier: MIT */
/* Stores the findings of the checks, with the count and an example of each kind. */
#include "analyzer/check/internal.h"

#include "jitreg/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ANCESTORS_MAX 64

#define ID_(NAME, id, sentence, remedy) id,
const char *const finding_ids[] = { FINDINGS(ID_) };
#undef ID_
#define SENTENCE_(NAME, id, sentence, remedy) sentence,
const char *const finding_sentences[] = { FINDINGS(SENTENCE_) };
#undef SENTENCE_
#define REMEDY_(NAME, id, sentence, remedy) remedy,
const char *const finding_remedies[] = { FINDINGS(REMEDY_) };
#undef REMEDY_

bool check_count_finding(struct check *c, enum finding_kind kind, uint64_t count, double samples)
{
	struct finding *f = &c->findings->of[kind];
	bool first = f->count == 0;

	if (!count)
		return false;
	c->findings->nr += first;
	f->count += count;
	f->samples += samples;
	return first;
}

void check_set_example(struct check *c, enum finding_kind kind, const char *format, ...)
{
	struct finding *f = &c->findings->of[kind];
	va_list list;

	va_start(list, format);
	vsnprintf(f->example, sizeof(f->example), format, list);
	va_end(list);
}

const char *check_level_name(const struct check *c, uint32_t level)
{
	const char *name = level < c->m->dictionary.nr_levels ? c->m->dictionary.level[level].name : NULL;

	return name && *name ? name : "component";
}

const char *check_component_name(const struct check *c, uint32_t component, char text[CHECK_NAME])
{
	const struct component *k = &c->m->dictionary.components.at[component];

	snprintf(text, CHECK_NAME, k->name && *k->name ? "%.40s %llu '%.40s'" : "%.40s %llu", check_level_name(c, k->level),
		 (unsigned long long)k->id, k->name ? k->name : "");
	return text;
}

bool check_is_utf8(const char *text)
{
	for (; text && *text; text++)
		if ((unsigned char)*text >= 0x80)
			break;
	while (text && *text) {
		struct utf8_character ch = utf8_next(text);

		if (!ch.valid)
			return false;
		text += ch.bytes;
	}
	return true;
}

bool check_is_text(const char *text)
{
	return text && *text && check_is_utf8(text);
}

bool check_has_host_data(const struct process *p)
{
	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent)
		if (p->has_dictionary || p->tags.nr)
			return true;
	return false;
}

bool check_saw_process_start(const struct process *p)
{
	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent)
		if (p->exec_seen)
			/* the program was recorded from its first instruction on, and exec() removed everything that the process had
			 * before */
			return true;
	return false;
}

static int compare_finding_samples(const void *a, const void *b, void *context)
{
	const struct findings *f = context;
	enum finding_kind x = *(const enum finding_kind *)a, y = *(const enum finding_kind *)b;

	if (f->of[x].samples > f->of[y].samples || f->of[x].samples < f->of[y].samples)
		return f->of[x].samples > f->of[y].samples ? -1 : 1;
	return x < y ? -1 : x > y;
}

uint32_t check_sort_findings(const struct findings *f, enum finding_kind order[NR_FINDINGS])
{
	uint32_t nr = 0;

	for (int i = 0; i < NR_FINDINGS; i++)
		if (f->of[i].count)
			order[nr++] = (enum finding_kind)i;
	qsort_r(order, nr, sizeof(*order), compare_finding_samples, (void *)(uintptr_t)f);
	return nr;
}
