/* SPDX-License-Identifier: MIT */
/*
 * A trace of any size without running anything: synthetic SAMPLES OBJECTS OUT.  A query of 12 operators and 24 tasks, compiled into
 * OBJECTS code objects whose code maps lead to IR lines, tasks and operators; half of the samples lie in them, the others in a shared
 * runtime and, for it, in the kernel, with the task in a tag register.  The samples take the recorder's own way into the file.
 */
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATOR = 1, PIPELINE, TASK, IR };
enum { NR_OPERATORS = 12, NR_PIPELINES = 5, NR_TASKS = 24, NR_IR = 1000, NR_THREADS = 4, PID = 1000 };

#define REGISTERS 0xf001c2ull /* bx bp sp ip r12-r15, by perf's numbers: 1 6 7 8 and 20 to 23 */
#define CODE 0x7f1000000000ull
#define CODE_STEP 512
#define RUNTIME 0x555500000000ull
#define RUNTIME_BYTES (1u << 20)
#define TAG 0x7a600000u

static struct trace_writer *w;

static void begin(uint32_t id, uint64_t time_ns, int nr)
{
	trace_record_begin(w, TRACE_CHUNK_RECORDS, id, time_ns, id >= 128 && id < 132 ? 0 : PID, PID, nr);
}

static void text(const char *t)
{
	trace_record_text(w, t, strlen(t));
}

static void numbers(int nr, const uint64_t *v)
{
	for (int i = 0; i < nr; i++)
		trace_record_u64(w, v[i]);
}
#define NUMBERS(...) numbers(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, (uint64_t[]){ __VA_ARGS__ })

static void component(uint32_t level, uint64_t id, const char *name, uint64_t nr)
{
	char t[64];

	snprintf(t, sizeof(t), "%s %llu", name, (unsigned long long)nr);
	begin(JITREG_COMPONENT, 2, F_COUNT(component));
	NUMBERS(level, 0, id);
	text(t);
	text("");
	trace_record_end(w);
}

static void dictionary_link(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper)
{
	begin(JITREG_LINK, 2, F_COUNT(link));
	NUMBERS(lower_level, upper_level, lower, upper, 1, 0);
	trace_record_end(w);
}

static void level(uint32_t id, const char *name, uint32_t flags)
{
	begin(JITREG_LEVEL, 2, F_COUNT(level));
	NUMBERS(id, flags);
	text(name);
	trace_record_array(w, 0);
	trace_record_end(w);
}

static void head(void)
{
	begin(TRACE_HEADER, 1, F_COUNT(header));
	NUMBERS(TRACE_FORMAT_VERSION);
	text("synthetic");
	NUMBERS(1);
	text("nowhere");
	text("x86_64");
	text("none");
	NUMBERS(NR_THREADS);
	text("/");
	trace_record_array(w, 1);
	trace_record_array(w, 1);
	text("synthetic");
	trace_record_end(w);
	begin(TRACE_EVENT, 1, F_COUNT(event));
	NUMBERS(0);
	text("cycles");
	text("cycles");
	NUMBERS(0, 0, 100000, 0, 0, 0, REGISTERS, 0);
	text("synthetic");
	for (int i = F(event, scope) + 1; i < F_COUNT(event); i++)
		NUMBERS(0);
	trace_record_end(w);
	trace_record_begin(w, TRACE_CHUNK_RECORDS, TRACE_PROCESS, 1, PID, PID, F_COUNT(process));
	NUMBERS(1);
	text("/synthetic/engine");
	text("engine");
	trace_record_end(w);
	begin(TRACE_MMAP, 1, F_COUNT(mmap));
	NUMBERS(RUNTIME, RUNTIME_BYTES, 0, 5);
	text("/synthetic/engine");
	trace_record_bytes(w, "", 0);
	trace_record_end(w);
}

static void query(void)
{
	level(OPERATOR, "operator", JITREG_LEVEL_PLAN);
	level(PIPELINE, "pipeline", 0);
	level(TASK, "task", 0);
	level(IR, "ir", 0);
	for (uint64_t i = 1; i <= NR_OPERATORS; i++) {
		component(OPERATOR, i, "operator", i);
		if (i > 1) {
			begin(JITREG_EDGE, 2, F_COUNT(edge));
			NUMBERS(OPERATOR, i, i - 1, 0, 0);
			text("");
			trace_record_end(w);
		}
	}
	for (uint64_t i = 1; i <= NR_PIPELINES; i++)
		component(PIPELINE, i, "pipeline", i);
	for (uint64_t i = 1; i <= NR_TASKS; i++) {
		component(TASK, i, "task", i);
		dictionary_link(TASK, i, OPERATOR, 1 + i % NR_OPERATORS);
		dictionary_link(TASK, i, PIPELINE, 1 + i % NR_PIPELINES);
	}
	for (uint64_t i = 1; i <= NR_IR; i++) {
		component(IR, i, "line", i);
		dictionary_link(IR, i, TASK, 1 + i % NR_TASKS);
	}
	begin(JITREG_TAG, 2, F_COUNT(tag));
	NUMBERS(13, 0, 0, 0xfff00000u, TAG);
	trace_record_array(w, 1);
	trace_record_array(w, 3);
	NUMBERS(TASK, 0, 16);
	trace_record_array(w, 1);
	trace_record_array(w, 2);
	NUMBERS(RUNTIME, RUNTIME + RUNTIME_BYTES);
	trace_record_end(w);
	begin(JITREG_MARK, 3, F_COUNT(mark));
	NUMBERS(JITREG_MARK_BEGIN, 0, 0, 1, 0, 0);
	text("run");
	text("");
	trace_record_end(w);
}

static void code(uint64_t nr)
{
	char name[32];

	for (uint64_t i = 0; i < nr; i++) {
		begin(JITREG_CODE_MAP, 2, F_COUNT(code_map));
		NUMBERS(CODE + i * CODE_STEP, 0);
		trace_record_array(w, 16);
		for (uint64_t n = 0; n < 16; n++) {
			trace_record_array(w, 3);
			NUMBERS(n * 16, IR, 1 + (i * 16 + n) % NR_IR);
		}
		trace_record_end(w);
		snprintf(name, sizeof(name), "function_%llu", (unsigned long long)i);
		begin(JITREG_LOAD, 2 + i, F_COUNT(load));
		NUMBERS(PID, PID, CODE + i * CODE_STEP, CODE + i * CODE_STEP, 256, i);
		text(name);
		trace_record_bytes(w, "", 0);
		trace_record_end(w);
	}
}

static uint64_t random_number(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static void all_samples(uint64_t nr, uint64_t nr_code)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						       PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER,
					.sample_regs_user = REGISTERS };
	struct samples *s;
	uint32_t written;

	if (samples_create(0, &attr, &s))
		exit(1);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t record[24], *at = record + 1, r = random_number(), thread = r % NR_THREADS, hot = (r >> 8) % 64;
		uint64_t object = (hot < 60 ? hot * 37 : r >> 20) % nr_code, kind = (r >> 16) % 10;
		uint64_t in_code = CODE + object * CODE_STEP + (r >> 40) % 64 * 4, in_runtime = RUNTIME + (r >> 40) % 2000 * 4;
		uint64_t ip = kind < 5 ? in_code : in_runtime;
		struct perf_event_header *h = (void *)record;
		struct sample_seen seen;

		*at++ = kind == 9 ? 0xffffffff81000000ull + r % 4096 : ip;
		*at++ = PID | (PID + thread) << 32;
		*at++ = 1000000 + nr_code + i * 25000;
		*at++ = thread;
		*at++ = 100000;
		*at++ = PERF_SAMPLE_REGS_ABI_64;
		*at++ = r;
		*at++ = 0x7ffc00001000ull + thread * 4096;
		*at++ = 0x7ffc00000800ull + thread * 4096;
		*at++ = ip;
		*at++ = 0;
		*at++ = TAG | (1 + (r >> 32) % NR_TASKS);
		*at++ = 0;
		*at++ = 1;
		*h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = (uint16_t)((char *)at - (char *)record),
						 .misc = kind == 9 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER };
		if (samples_add(s, h, &seen))
			exit(1);
		if (samples_full(s))
			samples_flush(s, w, &written);
	}
	samples_flush(s, w, &written);
	samples_destroy(s);
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, nr_code = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct diag d;

	if (!nr || !nr_code) {
		fprintf(stderr, "usage: synthetic SAMPLES OBJECTS OUT\n");
		return 2;
	}
	if (trace_writer_open(argv[3], true, &w, &d)) {
		fprintf(stderr, "synthetic: %s\n", d.text);
		return 1;
	}
	head();
	query();
	code(nr_code);
	all_samples(nr, nr_code);
	trace_record_begin(w, TRACE_CHUNK_END, TRACE_END, 1000000 + nr_code + nr * 25000, 0, 0, F_COUNT(end));
	for (int i = 0; i < F_COUNT(end); i++)
		NUMBERS(0);
	trace_record_end(w);
	return trace_writer_close(w) ? 1 : 0;
}
