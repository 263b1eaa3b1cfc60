/* SPDX-License-Identifier: MIT */
/* A perf.data file of any bytes: its header, its facts, and every record with its event. */
#include "fuzz.h"

#include "perf_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(8) static unsigned char room[PERF_DATA_RECORD_BYTES];
	struct perf_event_header *h = (struct perf_event_header *)room;
	static struct perf_data p;
	struct perf_data_text word;
	struct diag d;
	uint64_t at = 0;
	size_t word_at = 0;
	uint32_t event;

	if (perf_data_init(data, size, "f", &p, &d))
		return 0;
	while (perf_data_next_word(&p, &word_at, &word))
		;
	while (perf_data_next(&p, &at, h))
		perf_data_find_event(&p, h, &event);
	perf_data_find_build_id(&p, "/bin/ls", 7);
	perf_data_fini(&p);
	return 0;
}
