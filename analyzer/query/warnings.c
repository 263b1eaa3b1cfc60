/* SPDX-License-Identifier: MIT */
#include "analyzer/query/warnings.h"

#include "jitreg/base/hash_map.h"
#include "jitreg/hosts/jit_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a warning if its sentence is new. */
static void add_unique_warning(struct warnings *w, struct hash_map *seen, struct warning x)
{
	uint32_t i = hash_map_find(seen, hash_text(x.sentence), 0);

	if (i && strcmp(w->list[i - 1].sentence, x.sentence) == 0)
		return;
	w->list[w->nr++] = x;
	hash_map_set(seen, hash_text(x.sentence), 0, w->nr);
}

#define SPARK_CODE "org.apache.spark.sql.catalyst.expressions.GeneratedClass$"
#define SPARK_REMEDY \
	"Spark: operators, stages and tasks unavailable; tailor run --spark adds an event log and lines of generated code, tailor plan " \
	"--spark EVENTLOG adds the plans of a log that there is"

static bool has_spark_without_plan(const struct model *m)
{
	for (uint32_t i = 0; !m->plan_codes.codes.nr && i < m->codes.nr; i++) {
		const struct code *c = m->codes.at[i];

		if (c->kind == CODE_LOAD && c->name && strncmp(c->name, SPARK_CODE, strlen(SPARK_CODE)) == 0)
			return true;
	}
	return false;
}

enum warning_place warning_place(const struct notice *n)
{
	switch (n->kind) {
	case NOTICE_VERSION:
		return WARNING_OF_VERSION;
	case NOTICE_NAMES:
		return WARNING_OF_NAMES;
	case NOTICE_TAG:
		return WARNING_OF_TAGS;
	default:
		return WARNING_BEHIND;
	}
}

/* Writes a sentence about what is in no share, because idle processors run no program.  It is time if a clock counts it, but a processor
 * that is halted counts no cycles. */
static const char *say_idle(const struct report *r, char *text, size_t bytes)
{
	const struct model_event *e = &r->model->event[r->event];
	double percent = 100 * r->idle / (r->idle + r->not_idle);

	if (e->is_clock)
		snprintf(text, bytes, "idle: processors had nothing to run for %.1f %% of the time; shares are of the other %.1f %%",
			 percent, 100 - percent);
	else
		snprintf(text, bytes, "idle: %.1f %% of %.64s is of processors that had nothing to run, which is no share of the time; "
			 "shares are of the other %.1f %%", percent, e->name && *e->name ? e->name : "the event", 100 - percent);
	return text;
}

void warnings_make(const struct report *r, struct warnings *w)
{
	const struct model *m = r->model;
	struct hash_map seen = { 0 };

	*w = (struct warnings){ .list = calloc((size_t)m->notices.nr + NR_LOSSES + 4, sizeof(*w->list)) };
	for (uint32_t i = 0; w->list && i < m->notices.nr; i++)
		add_unique_warning(w, &seen,
				   (struct warning){ trace_notices[m->notices.at[i].kind], m->notices.at[i].sentence, 0,
						     warning_place(&m->notices.at[i]) });
	for (int i = 0; w->list && i < NR_LOSSES; i++)
		if (m->lost[i])
			add_unique_warning(w, &seen,
					   (struct warning){ trace_losses[i].text, trace_losses[i].sentence, m->lost[i], WARNING_BEHIND });
	if (w->list && m->lost[NR_LOSSES])
		add_unique_warning(
			w, &seen,
			(struct warning){ "unknown", "losses whose reason a later version of tailor knows", m->lost[NR_LOSSES],
					  WARNING_BEHIND });
	if (w->list && r->a->bad_blocks)
		add_unique_warning(w, &seen,
				   (struct warning){ "blocks", "blocks of samples that could not be decoded", r->a->bad_blocks,
						     WARNING_BEHIND });
	if (w->list && r->idle > 0)
		add_unique_warning(w, &seen,
				   (struct warning){ trace_notices[NOTICE_HOST], say_idle(r, w->idle, sizeof(w->idle)), 0,
						     WARNING_BEHIND });
	if (w->list && has_spark_without_plan(m))
		add_unique_warning(w, &seen, (struct warning){ trace_notices[NOTICE_HOST], SPARK_REMEDY, 0, WARNING_OF_NAMES });
	hash_map_fini(&seen);
}

void warnings_fini(struct warnings *w)
{
	free(w->list);
}

const struct warning *warnings_first(const struct warnings *w, uint32_t nth)
{
	for (int place = WARNING_OF_VERSION; place < WARNING_BEHIND; place++)
		for (uint32_t i = 0; i < w->nr; i++)
			if (w->list[i].place == (enum warning_place)place && nth-- == 0)
				return &w->list[i];
	return NULL;
}

#define STACK_MAX 65528u /* the most that --stack takes */

const char *stack_remedy(uint32_t bytes, enum jit_way way, char text[STACK_REMEDY_TEXT])
{
	const char *option = way == JIT_WAY_IMPORT ? "perf record --call-graph dwarf," : "--stack ";

	*text = 0;
	if (bytes < STACK_MAX)
		snprintf(text, STACK_REMEDY_TEXT, "%s%u", option, STACK_MAX);
	return text;
}
