/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/attribute/weights.h"
#include "jitreg/trace/column_encoder.h"
#include "tests/unit/small_trace.h"

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

#define SWITCHES 1u /* the event */

static void put_switches(uint32_t nr, const uint64_t *time, const uint64_t *tid, const uint64_t *kind)
{
	unsigned char room[COLUMNS_LIST_ROOM(16)];

	trace_samples_begin(small, 1, SWITCHES, nr, 3);
	column_encoder_write_list(small, SAMPLE_COLUMN_TIME, time, nr, room);
	column_encoder_write_list(small, SAMPLE_COLUMN_TID, tid, nr, room);
	column_encoder_write_list(small, SAMPLE_COLUMN_WEIGHT, kind, nr, room);
	assert_int_equal(trace_record_end(small), 0);
}

static void check_absence(const struct switches *s, uint32_t tid, uint64_t from_ns, uint64_t until_ns, enum trace_switch why)
{
	const struct absence away = switches_find(s, tid, from_ns);

	assert_int_equal(away.until_ns, until_ns);
	assert_int_equal(away.woken_ns, until_ns);
	assert_int_equal(away.why, why);
}

static void waits_without_an_end_last_until_the_recording_ends(void **none)
{
	static const uint64_t time[] = { 100, 200, 500, 110, 120, 130, 310 }, tid[] = { 1, 1, 1, 2, 3, 4, 4 };
	static const uint64_t kind[] = { TRACE_SWITCH_WAITS, TRACE_SWITCH_IN, TRACE_SWITCH_WAITS, TRACE_SWITCH_PREEMPTED,
					 TRACE_SWITCH_WAITS, TRACE_SWITCH_WAITS, TRACE_SWITCH_WAITS };
	static struct model m = { .preempted = SWITCHES, .run_queue = MODEL_NO_EVENT };
	struct trace_reader *t;
	struct switches s;

	(void)none;
	small_begin();
	put_switches(7, time, tid, kind);
	PUT(exit, 3, 400);
	PUT(exit, 4, 300);
	PUT(count, 0, 900, .event = 0);
	t = small_end();
	assert_int_equal(switches_read(t, &m, &s), 0);
	check_absence(&s, 1, 99, 200, TRACE_SWITCH_WAITS); /* it came back */
	check_absence(&s, 1, 500, 900, TRACE_SWITCH_WAITS);
	check_absence(&s, 2, 110, 900, TRACE_SWITCH_PREEMPTED);
	check_absence(&s, 3, 119, 400, TRACE_SWITCH_WAITS); /* it ended */
	check_absence(&s, 4, 310, 310, TRACE_SWITCH_WAITS); /* it had ended */
	check_absence(&s, 5, 950, 950, TRACE_SWITCH_WAITS); /* none of it is known */
	switches_fini(&s);
	trace_close(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_of_equal_samples_are_scaled_like_others),
		cmocka_unit_test(waits_without_an_end_last_until_the_recording_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
