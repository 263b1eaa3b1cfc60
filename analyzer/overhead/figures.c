/* SPDX-License-Identifier: MIT */
/* Reads from a trace how many samples it has, their bytes, the share that is attributed to components, its event, and its notices. */
#include "analyzer/overhead/overhead.h"

#include "analyzer/query/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Set r->sample_bytes to the size of all chunks of samples with their heads, and r->trace_bytes to the size of the file.  Only heads of
 * chunks are read.  Returns 0, or -errno with a sentence. */
static int count_sample_bytes(const char *path, struct overhead_run *r, struct diag *d)
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

static void add_unique_notice(struct overhead *o, enum capture c, const char *sentence)
{
	unsigned i = 0;

	while (i < o->nr_notices && strcmp(o->notice[i], sentence) != 0)
		i++;
	if (i == OVERHEAD_NOTICES_MAX)
		return;
	if (i == o->nr_notices)
		snprintf(o->notice[o->nr_notices++], sizeof(o->notice[0]), "%s", sentence);
	o->notice_of[i] |= 1u << c;
}

static void note_trace_facts(struct overhead *o, unsigned rate, enum capture c, const struct model *m)
{
	if (m->nr_events) {
		snprintf(o->event_name, sizeof(o->event_name), "%s", m->event[0].name);
		snprintf(o->unit, sizeof(o->unit), "%s", m->event[0].unit);
		if (c != CAPTURE_AGENT)
			o->period[rate] = (double)m->event[0].period;
	}
	o->read |= 1u << c;
	for (uint32_t i = 0; i < m->notices.nr; i++)
		add_unique_notice(o, c, m->notices.at[i].sentence);
	o->has_components |= m->dictionary.components.nr > 1;
}

/* This struct has the numbers of samples, and of those without a component (none). [0] has those of all samples, [1] those of the run
 * phase. */
struct counted {
	double samples[2], none[2];
};

static int count_attributed_rows(void *context, const struct attribution *a, const struct table *t)
{
	struct counted *c = context;

	(void)a;
	for (uint64_t i = 0; i < t->nr; i++)
		for (int run = 0; run <= (t->column[TABLE_PHASE][i] != 0); run++) {
			c->samples[run] += t->share[i];
			c->none[run] += t->column[TABLE_METHOD][i] == METHOD_NONE ? t->share[i] : 0;
		}
	return 0;
}

static void set_run_attribution(struct overhead *o, const struct attribution *a, const struct counted *c, struct overhead_run *r)
{
	bool run = c->samples[1] > 0;

	r->samples = (double)a->nr_samples;
	r->lost = (double)model_count_lost(a->model, LOSS_OF_SAMPLES);
	if (c->samples[run] > 0)
		r->attributed = 1 - c->none[run] / c->samples[run];
	o->has_run |= run;
}

int overhead_read(struct overhead *o, unsigned rate, enum capture c, const char *path, struct overhead_run *r, struct diag *d)
{
	struct counted counted = { 0 };
	struct attribute_options options = {
		.stack_only = capture_kinds[c].stack_only, .run_mark = "run", .rows = count_attributed_rows, .rows_context = &counted
	};
	struct attribution *a;
	struct trace_reader *t;
	struct model *m;
	int ret = count_sample_bytes(path, r, d);

	if (ret)
		return ret;
	ret = trace_open(path, &t, d);
	if (ret)
		return ret;
	ret = model_create(t, &m, d);
	if (ret == 0) {
		ret = attribute_trace(t, m, &options, &a, d);
		if (ret == 0) {
			note_trace_facts(o, rate, c, m);
			set_run_attribution(o, a, &counted, r);
			attribution_destroy(a);
		}
		model_destroy(m);
	}
	trace_close(t);
	return ret;
}
