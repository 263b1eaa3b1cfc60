/* SPDX-License-Identifier: MIT */
/* A trace's samples, their bytes, and how many of them end on a component. */
#include "overhead.h"

#include "summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* By the chunks' heads alone. */
static int count_bytes(const char *path, struct overhead_run *r, struct diag *d)
{
	struct trace_chunk c;
	struct stat st;
	FILE *f = fopen(path, "re");

	if (!f)
		return diag_fail(d, errno, "%s: %s", path, strerror(errno));
	r->sample_bytes = 0;
	while (fread(&c, sizeof(c), 1, f) == 1 && c.magic == TRACE_MAGIC) {
		if (c.type == TRACE_CHUNK_SAMPLES)
			r->sample_bytes += (double)sizeof(c) + c.stored_bytes;
		if (fseeko(f, c.stored_bytes, SEEK_CUR))
			break;
	}
	r->trace_bytes = fstat(fileno(f), &st) == 0 ? (double)st.st_size : NAN;
	fclose(f);
	return 0;
}

static void take_notice(struct overhead *o, const char *sentence)
{
	for (unsigned i = 0; i < o->nr_notices; i++)
		if (strcmp(o->notice[i], sentence) == 0)
			return;
	if (o->nr_notices < OVERHEAD_NOTICES_MAX)
		snprintf(o->notice[o->nr_notices++], sizeof(o->notice[0]), "%s", sentence);
}

static void take_facts(struct overhead *o, unsigned rate, enum capture c, const struct model *m)
{
	if (m->nr_events) {
		snprintf(o->event_name, sizeof(o->event_name), "%s", m->event[0].name);
		snprintf(o->unit, sizeof(o->unit), "%s", m->event[0].unit);
		if (c != CAPTURE_AGENT)
			o->period[rate] = (double)m->event[0].period;
	}
	for (uint32_t i = 0; i < m->nr_notices; i++)
		take_notice(o, m->notice[i].sentence);
	o->has_components |= m->dictionary.nr_components > 1;
}

static int take_attribution(struct overhead *o, const struct attribution *a, struct overhead_run *r)
{
	struct table_filter everything = { 0 };
	struct summary *s;

	if (summary_create(a, &everything, &s))
		return -ENOMEM;
	r->samples = (double)a->nr_samples;
	r->lost = (double)s->lost;
	if (s->run.total.samples > 0)
		r->attributed = 1 - s->run.method[METHOD_NONE].samples / s->run.total.samples;
	o->has_run |= s->has_run;
	summary_destroy(s);
	return 0;
}

int overhead_read(struct overhead *o, unsigned rate, enum capture c, const char *path, struct overhead_run *r, struct diag *d)
{
	struct attribute_options options = { .stack_only = capture_kinds[c].stack_only, .run_mark = "run" };
	struct attribution *a;
	struct trace_reader *t;
	struct model *m;
	int ret = count_bytes(path, r, d);

	if (ret)
		return ret;
	ret = trace_open(path, &t, d);
	if (ret)
		return ret;
	ret = model_create(t, &m, d);
	if (ret == 0) {
		ret = attribute(t, m, &options, &a, d);
		if (ret == 0) {
			take_facts(o, rate, c, m);
			ret = take_attribution(o, a, r);
			if (ret)
				diag_fail(d, -ret, "no memory for the samples of this trace");
			attribution_destroy(a);
		}
		model_destroy(m);
	}
	trace_close(t);
	return ret;
}
