/* SPDX-License-Identifier: MIT */
/* Adds records of a process, of the kernel and of a sampled event to a perf.data file that a test makes. */
#ifndef TAILOR_TESTS_PERF_DATA_OF_PROCESS_H
#define TAILOR_TESTS_PERF_DATA_OF_PROCESS_H

#include "tests/unit/perf_data_file.h"

#include <sys/mman.h>
#include <time.h>

#define MISC_BUILD_ID (1u << 14)
#define PID 4193999u /* hardly any running process has it, as it is near the kernel's largest, 4194303 */
#define WHO(pid, tid) ((uint64_t)(pid) | (uint64_t)(tid) << 32)
#define BASE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define CODE 0x7f0000001000ull

static struct made *make(void)
{
	static struct made m;

	memset(&m, 0, sizeof(m));
	m.nr_events = 1;
	m.name[0] = "cycles";
	m.attr[0] = (struct perf_event_attr){ .sample_type = BASE, .sample_id_all = 1, .sample_freq = 4000, .freq = 1,
					      .use_clockid = 1, .clockid = CLOCK_MONOTONIC };
	put_text(made_feature(&m, FEATURE_HOST), "host");
	put_text(made_feature(&m, FEATURE_RELEASE), "0.0.1");
	put_text(made_feature(&m, FEATURE_VERSION), "6.1");
	return &m;
}

/* Writes the fields that follow each record but a sample. These are its process and thread, its time, processor and event. */
static void put_id(struct bytes *b, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	put_u64(b, WHO(pid, tid));
	put_u64(b, time_ns);
	put_u64(b, 1);
	put_u64(b, made_id(0, 0));
}

static void add_mmap2(struct made *m, uint32_t pid, uint64_t address, const char *path, uint32_t prot, int build_id, uint64_t time_ns)
{
	struct bytes *b = calloc(1, sizeof(*b));

	put_u64(b, WHO(pid, pid));
	put_u64(b, address);
	put_u64(b, 0x3000);
	put_u64(b, 0x1000);
	put_u32(b, build_id ? 20 : 8);
	for (int i = 0; i < 20; i++)
		put(b, &(char){ (char)build_id }, 1);
	put_u32(b, prot);
	put_u32(b, MAP_PRIVATE);
	put_room(b, path, 0);
	put_id(b, pid, pid, time_ns);
	made_record(m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (build_id ? MISC_BUILD_ID : 0), b);
	free(b);
}

static void add_comm(struct made *m, uint32_t pid, const char *comm, bool exec, uint64_t time_ns)
{
	struct bytes *b = calloc(1, sizeof(*b));

	put_u64(b, WHO(pid, pid));
	put_room(b, comm, 0);
	put_id(b, pid, pid, time_ns);
	made_record(m, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, b);
	free(b);
}

static void add_task(struct made *m, uint32_t type, uint16_t misc, uint32_t pid, uint32_t ppid, uint32_t tid, uint64_t time_ns)
{
	MADE_WORDS(m, type, misc, WHO(pid, ppid), WHO(tid, ppid), time_ns, WHO(ppid, ppid), time_ns, 1, made_id(0, 0));
}

static void add_sample(struct made *m, uint32_t pid, uint64_t ip, uint64_t time_ns)
{
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 0), ip, WHO(pid, pid), time_ns, 1, 700);
}

/* Adds the mapping of the kernel's code, as perf writes it, and a sample in it. id has 20 bytes; id_bytes 0: the record has no build id. */
static void add_kernel(struct made *m, uint64_t text, const unsigned char *id, uint32_t id_bytes)
{
	struct bytes *b = calloc(1, sizeof(*b));

	put_u64(b, WHO(UINT32_MAX, 0));
	put_u64(b, text);
	put_u64(b, 0x1000000);
	put_u64(b, text);
	put_u32(b, id_bytes);
	put(b, id, 20);
	put_u32(b, PROT_EXEC);
	put_u32(b, MAP_PRIVATE);
	put_room(b, "[kernel.kallsyms]_text", 0);
	put_id(b, UINT32_MAX, 0, 0);
	made_record(m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_KERNEL | (id_bytes ? MISC_BUILD_ID : 0), b);
	free(b);
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, made_id(0, 0), text + 1, WHO(PID, PID), 1000, 1, 700);
}

#endif
