/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/interval.h"

#include "analyzer/whatif/parts.h"

#include <math.h>

void interval_learn(struct predictor *p, const double *measured_ns, uint32_t nr)
{
	double mean = 0, squares = 0;

	for (uint32_t i = 0; i < nr; i++)
		mean += log(fmax(1, measured_ns[i])) / nr;
	for (uint32_t i = 0; i < nr; i++)
		squares += pow(log(fmax(1, measured_ns[i])) - mean, 2);
	p->spread = sqrt((INTERVAL_BELIEVED * p->spread * p->spread + squares) / (INTERVAL_BELIEVED + nr - 1));
	p->nr_runs = nr;
}

/*
 * Returns the error of the completion time, as a part of it, that the sampling error of a component's share causes. Returns 0 for a change
 * of something else, and 1 if there are no samples.
 */
static double sampling_error(const struct predictor *p, const struct change *c, const struct prediction *x)
{
	double samples, share;

	if (c->kind != CHANGE_COMPONENT)
		return 0;
	share = part_share(p->g, c->level, c->of, &samples);
	return samples > 0 ? fabs(c->value) * sqrt(share * (1 - share) / samples) * p->measured_ns / x->completion_ns : 1;
}

static double octaves(double to, double from)
{
	return to > 0 && from > 0 ? fabs(log2(to / from)) : 0;
}

/* Returns by how many octaves the changed machine differs from the recorded one, as the sum of all changes. */
static double distance(const struct predictor *p, const struct change *changes, uint32_t nr)
{
	const double processors = p->now.processors, now = p->now.quota > 0 ? p->now.quota : processors;
	double sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const double value = changes[i].value;

		if (changes[i].kind == CHANGE_CORES)
			sum += octaves(value, processors);
		else if (changes[i].kind == CHANGE_QUOTA)
			sum += octaves(value > 0 && value < processors ? value : processors, now);
		else if (changes[i].kind == CHANGE_THREADS)
			sum += octaves(value, changes[i].of);
		else if (changes[i].kind >= CHANGE_CLOCK && changes[i].kind <= CHANGE_SLEEP)
			sum += octaves(value, 1);
	}
	return sum;
}

void interval_set(const struct predictor *p, const struct change *changes, uint32_t nr, struct prediction *out)
{
	const double gain = p->measured_ns - out->completion_ns, unknown = p->path.unknown_ns / p->simulated_ns;
	const double far = fmax(distance(p, changes, nr), octaves(out->completion_ns, p->measured_ns));
	double both = p->spread * p->spread * (1 + 1.0 / p->nr_runs) + p->octave * p->octave * far + pow(p->replay_error * fmin(1, far), 2);
	double longer = 0, shorter = 0, moved, most;

	if (out->completion_ns <= 0)
		return;
	for (uint32_t i = 0; i < nr; i++) {
		both += pow(sampling_error(p, &changes[i], out), 2);
		if (changes[i].kind == CHANGE_CLOCK && gain > 0)
			longer += INTERVAL_MEMORY * gain / out->completion_ns;
	}
	/*
	 * Waits that an unknown thread ended are simulated as fixed times. If they change as the rest does, the completion time moves
	 * further.
	 */
	moved = unknown * fabs(gain) / out->completion_ns;
	*(gain > 0 ? &shorter : &longer) += moved;
	most = INTERVAL_SIGMAS * sqrt(both);
	out->low_ns = out->completion_ns * exp(-hypot(most, shorter));
	out->high_ns = out->completion_ns * exp(hypot(most, log1p(longer)));
}
