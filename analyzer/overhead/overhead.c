/* SPDX-License-Identifier: MIT */
#include "analyzer/overhead/overhead.h"

#include <math.h>
#include <stdlib.h>

#define CAPTURE_KIND_(NAME, name, key, options, stack_only) { name, key, options, stack_only },
const struct capture_kind capture_kinds[NR_CAPTURES] = { CAPTURES(CAPTURE_KIND_) };
#undef CAPTURE_KIND_

struct overhead_run *overhead_run_of(const struct overhead *o, unsigned round, unsigned rate, enum capture c)
{
	return &o->run[(round * o->nr_rates + rate) * NR_CAPTURES + c];
}

/* One figure of a run, relative to another run of the same round and rate: the baseline, or the agent's. */
typedef double (*figure)(const struct overhead_run *r, const struct overhead_run *base);

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static double added_wall(const struct overhead_run *r, const struct overhead_run *base)
{
	return ratio(r->wall_s, base->wall_s) - 1;
}

static double added_cpu(const struct overhead_run *r, const struct overhead_run *base)
{
	return ratio(r->cpu_s, base->cpu_s) - 1;
}

static double recorder_cpu(const struct overhead_run *r, const struct overhead_run *base)
{
	return ratio(r->recorder_s, base->cpu_s);
}

static double outside_s(const struct overhead_run *r, const struct overhead_run *base)
{
	(void)base;
	return r->outside_s;
}

static double ns_per_sample(const struct overhead_run *r, const struct overhead_run *base)
{
	return ratio((r->cpu_s - base->cpu_s) * 1e9, r->samples);
}

static double recorder_ns_per_sample(const struct overhead_run *r, const struct overhead_run *base)
{
	return ratio((r->recorder_s - base->recorder_s) * 1e9, r->samples);
}

static double bytes_per_sample(const struct overhead_run *r, const struct overhead_run *base)
{
	(void)base;
	return ratio(r->sample_bytes, r->samples);
}

static double samples(const struct overhead_run *r, const struct overhead_run *base)
{
	(void)base;
	return r->samples;
}

static double lost(const struct overhead_run *r, const struct overhead_run *base)
{
	(void)base;
	return r->lost;
}

static double attributed(const struct overhead_run *r, const struct overhead_run *base)
{
	(void)base;
	return r->attributed;
}

static struct spread over_rounds(const struct overhead *o, unsigned rate, enum capture c, figure f, enum capture base)
{
	double *values = calloc(o->nr_rounds, sizeof(*values));
	struct spread s = spread_of(NULL, 0);

	for (unsigned i = 0; values && i < o->nr_rounds; i++)
		values[i] = f(overhead_run_of(o, i, rate, c), overhead_run_of(o, i, rate, base));
	if (values)
		s = spread_of(values, o->nr_rounds);
	free(values);
	return s;
}

struct spread overhead_bare(const struct overhead *o, bool wall)
{
	double *values = calloc((size_t)o->nr_rounds * o->nr_rates, sizeof(*values));
	struct spread s = spread_of(NULL, 0);
	size_t nr = 0;

	for (unsigned i = 0; values && i < o->nr_rounds; i++)
		for (unsigned rate = 0; rate < o->nr_rates; rate++) {
			const struct overhead_run *r = overhead_run_of(o, i, rate, CAPTURE_BARE);

			values[nr++] = wall ? r->wall_s : r->cpu_s;
		}
	if (values)
		s = spread_of(values, nr);
	free(values);
	return s;
}

struct overhead_row overhead_row(const struct overhead *o, unsigned rate, enum capture c)
{
	struct overhead_row r = {
		.capture = c,
		.rate = rate,
		.added_wall = over_rounds(o, rate, c, added_wall, CAPTURE_BARE),
		.added_cpu = over_rounds(o, rate, c, added_cpu, CAPTURE_BARE),
		.recorder_cpu = over_rounds(o, rate, c, recorder_cpu, CAPTURE_BARE),
		.outside_s = over_rounds(o, rate, c, outside_s, CAPTURE_BARE),
		.samples = over_rounds(o, rate, c, samples, CAPTURE_BARE),
		.lost = over_rounds(o, rate, c, lost, CAPTURE_BARE),
	};
	bool sampled = c > CAPTURE_AGENT;

	r.ns_per_sample = sampled ? over_rounds(o, rate, c, ns_per_sample, CAPTURE_AGENT) : spread_of(NULL, 0);
	r.recorder_ns_per_sample = sampled ? over_rounds(o, rate, c, recorder_ns_per_sample, CAPTURE_AGENT) : spread_of(NULL, 0);
	r.bytes_per_sample = sampled ? over_rounds(o, rate, c, bytes_per_sample, CAPTURE_BARE) : spread_of(NULL, 0);
	r.attributed = sampled ? over_rounds(o, rate, c, attributed, CAPTURE_BARE) : spread_of(NULL, 0);
	return r;
}
