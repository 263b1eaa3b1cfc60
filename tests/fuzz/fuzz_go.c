/* SPDX-License-Identifier: MIT */
/* A Go program's table of functions: pruned as a recorder does, then all that it says, and its frames. */
#include "tests/fuzz/fuzz.h"

#include "agent/recorder/images/go_prune.h"
#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/go_frames.h"

#include <stdlib.h>
#include <string.h>

static bool is_seen(const void *context, uint64_t start, uint64_t end)
{
	(void)context;
	return (start ^ end) & 0x40;
}

static bool add_fde(void *context, const struct eh_frame_fde *f)
{
	(void)context;
	(void)f;
	return true;
}

static void ask(const struct go_table *t)
{
	uint64_t bytes = 0;
	unsigned char *frames = go_frames_append(NULL, &bytes, 0x1000, t, 0x401000);

	if (frames)
		eh_frame_each(frames, bytes, 0x1000, add_fde, NULL);
	free(frames);
	for (uint32_t i = 0; i < t->nr_functions && i < 64; i++) {
		struct go_function f;
		struct go_values v;

		go_table_find(t, i);
		if (!go_table_function(t, i, &f))
			continue;
		go_table_name(t, f.name);
		for (int of = 0; of < NR_GO_VALUES; of++)
			if (go_values_find(t, &f, of, (f.end - f.start) / 2, &v))
				go_table_file(t, &f, v.value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_parts p = { .nr = 2, .part = { { 0, size, malloc(size ? size : 1) }, { 0, 256, calloc(1, 256) } }, .go_text = 0x401000 };
	struct go_table t;

	memcpy(p.part[0].bytes, data, size);
	p.go = &p.part[0];
	p.go_calls = &p.part[size & 1];
	p.go_calls_at = size / 2;
	if (go_table_open(p.go->bytes, size, &t))
		ask(&t);
	go_prune(&p, is_seen, NULL);
	if (go_table_open(p.go->bytes, size, &t))
		ask(&t);
	free(p.part[0].bytes);
	free(p.part[1].bytes);
	return 0;
}
