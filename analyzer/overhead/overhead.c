/* SPDX-License-Identifier: MIT */
#include "analyzer/overhead/overhead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAPTURE_KIND_(NAME, name, key, options, stack_only) { name, key, options, stack_only },
const struct capture_kind capture_kinds[NR_CAPTURES] = { CAPTURES(CAPTURE_KIND_) };

const char *capture_options(enum capture c)
{
	return strcmp(capture_kinds[c].options, CAPTURE_NO_OPTIONS) ? capture_kinds[c].options : "";
}
#undef CAPTURE_KIND_

struct overhead_run *overhead_run_of(const struct overhead *o, unsigned round, unsigned rate, enum capture c)
{
	return &o->run[(round * o->nr_rates + rate) * NR_CAPTURES + c];
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

#define FIGURE_(name, first, other, value) \
	static double name(const struct overhead_run *r, const struct overhead_run *base) \
	{ \
		(void)base; \
		return value; \
	}
FIGURES(FIGURE_)
#undef FIGURE_

static struct spread spread_over_rounds(const struct overhead *o, unsigned rate, enum capture c, enum capture base,
					double (*figure)(const struct overhead_run *r, const struct overhead_run *base))
{
	double *values = calloc(o->nr_rounds, sizeof(*values));
	struct spread s = spread_of_values(NULL, 0);

	for (unsigned i = 0; values && i < o->nr_rounds; i++)
		values[i] = figure(overhead_run_of(o, i, rate, c), overhead_run_of(o, i, rate, base));
	if (values)
		s = spread_of_values(values, o->nr_rounds);
	free(values);
	return s;
}

struct spread overhead_bare_spread(const struct overhead *o, bool wall)
{
	double *values = calloc((size_t)o->nr_rounds * o->nr_rates, sizeof(*values));
	struct spread s = spread_of_values(NULL, 0);
	size_t nr = 0;

	for (unsigned i = 0; values && i < o->nr_rounds; i++)
		for (unsigned rate = 0; rate < o->nr_rates; rate++) {
			const struct overhead_run *r = overhead_run_of(o, i, rate, CAPTURE_BARE);

			values[nr++] = wall ? r->wall_s : r->cpu_s;
		}
	if (values)
		s = spread_of_values(values, nr);
	free(values);
	return s;
}

struct overhead_row overhead_make_row(const struct overhead *o, unsigned rate, enum capture c)
{
	struct overhead_row row;

#define FIGURE_(name, first, other, value) \
	row.name = c >= CAPTURE_##first ? spread_over_rounds(o, rate, c, CAPTURE_##other, name) : spread_of_values(NULL, 0);
	FIGURES(FIGURE_)
#undef FIGURE_
	return row;
}
