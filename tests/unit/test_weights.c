/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/attribute/weights.h"

#define NR 4096u

static uint64_t weight[NR], expected[NR], state = 1;

static uint64_t below(uint64_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 20) % n;
}

/* Runs of equal weights around powers of two, of weights that are far apart, and of weights without a fraction. */
static void draw_weights(void)
{
	static const uint64_t near[] = { 1, 7, 1024, 16000, 20000, 32768, 1003009, 1048576, 4000000000ull, 1ull << 40, 1ull << 53,
					 1ull << 62 };

	for (uint32_t i = 0, until = 0; i < NR; i++) {
		if (i == until) {
			uint64_t w = near[below(sizeof(near) / sizeof(near[0]))];

			until = i + 1 + (uint32_t)below(300);
			weight[i] = w - below(w / 8 + 1);
		} else {
			weight[i] = weight[i - 1];
		}
	}
}

/* Each sample gets the whole part of its own weight and of what was cut off before. */
static void scale_plainly(double scale, double *cut_off)
{
	for (uint32_t i = 0; i < NR; i++) {
		*cut_off += (double)weight[i] * scale;
		expected[i] = model_clamp_to_u64(*cut_off);
		*cut_off = *cut_off < 0x1p53 ? *cut_off - (double)expected[i] : 0;
	}
}

static void weights_of_equal_samples_are_scaled_like_others(void **none)
{
	(void)none;
	for (unsigned round = 0; round < 200; round++) {
		const double scale = round % 8 ? 1 + (double)below(1000000) / 777777.0 : 1.5;
		static struct model m = { .nr_events = 1 };
		struct scaled_weights w = { 0 };
		struct sample_block b = { .nr = NR };
		double cut_off = 0;

		m.event[0].scale = scale;
		for (int block = 0; block < 2; block++) { /* what is cut off goes from block to block */
			draw_weights();
			scale_plainly(scale, &cut_off);
			b.column[SAMPLE_COLUMN_WEIGHT] = weight;
			assert_int_equal(weights_scale(&w, &m, &b), 0);
			assert_memory_equal(b.column[SAMPLE_COLUMN_WEIGHT], expected, sizeof(expected));
		}
		weights_fini(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_of_equal_samples_are_scaled_like_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
