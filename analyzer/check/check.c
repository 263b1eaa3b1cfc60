/* SPDX-License-Identifier: MIT */
#include "analyzer/check/internal.h"

#include <stdlib.h>

static struct check begin_check(struct findings *f, const struct model *m, const struct check_sums *sums)
{
	const uint64_t lost = model_count_lost(m, LOSS_OF_REGISTRATIONS);

	return (struct check){ .findings = f, .m = m, .sums = sums, .complete = m->has_end && !lost,
			       .heard_all = m->has_end && lost <= m->lost[LOSS_LOG_BAD] };
}

int check_model(struct findings *f, const struct model *m, const struct check_sums *sums)
{
	struct check c = begin_check(f, m, sums);
	int ret = 0;

	check_records(&c);
	if (m->dictionary.components.nr > 1 || m->dictionary.nr_levels) {
		ret = check_dictionary(&c);
		ret = ret ? ret : check_plans(&c);
		ret = ret ? ret : check_code(&c);
	}
	check_tags(&c);
	ret = ret ? ret : check_marks(&c);
	free(c.known);
	return ret;
}

int check_code_and_samples(struct findings *f, const struct report *r)
{
	struct check c = begin_check(f, r->model, NULL);

	check_code_overlaps(&c);
	check_code_bytes(&c, r);
	return check_samples(&c, r);
}
