/* SPDX-License-Identifier: MIT */
/*
 * A trace of any size without running anything: synthetic SAMPLES OBJECTS OUT [events] [names] [functions] [memory]
 * [turns] [marks] [changes] [perf=FILE].  A query of 12 operators and 24 tasks, compiled into OBJECTS code objects whose code maps lead
 * to IR lines, tasks and operators; half of the samples lie in them, the others in a shared runtime and, for it, in the
 * kernel, with the task in a tag register.  With events, there are also instructions, page faults (task 1 walks through
 * memory, the others leap about) and threads that wait.  With names, names are what no report may break on.  With
 * functions, the host knows of no query: code objects are functions of scripts, with lines and in two versions.  With
 * memory, generated code walks through a column, leaps about in a hash table, takes every 64th row of another column,
 * and counts on its stack.  With turns, counters say at their ends that the first event had the counter for a quarter
 * of the time on the first processor, and that a third of the second event's samples was lost.  With marks,
 * two queries are compiled and run in turn.  With changes, half of the threads are a forked process's after a quarter of the time,
 * each second code object is another one after half, and the tag is in another register after three quarters; weights differ in
 * between.  With perf=FILE, samples
 * of the first event go into a perf.data file as well, and names of code objects to FILE.map, as perf wants them.  The
 * samples take the recorder's own way into the trace.
 */
#include "agent/recorder/perf/samples.h"
#include "tests/bench/perf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPERATOR = 1, PIPELINE, TASK, IR };
enum { NR_OPERATORS = 12, NR_PIPELINES = 5, NR_TASKS = 24, NR_IR = 1000, NR_THREADS = 4, PID = 1000 };

/* ip, r12 and r13, by perf's numbers: where there are no stacks, the recorder keeps the registers with tags, and no others. */
#define REGISTERS (1ull << 8 | 3ull << 20)
#define CODE 0x7f1000000000ull
#define CODE_STEP 512
#define RUNTIME 0x555500000000ull
#define RUNTIME_BYTES (1u << 20)
#define TAG 0x7a600000u

static struct trace_writer *w;
static const char *perf_path;
static struct perf_file perf;

#define PUT(record, time_ns, ...) TRACE_PUT(w, record, time_ns, PID, PID, __VA_ARGS__)

/* Names that are long, wide, combine, turn lines around, are no UTF-8, or mean something to a terminal, a spreadsheet, HTML. */
static bool hostile;

static struct trace_span name(const char *t)
{
	static const char *const odd[] = {
		"表の結合と集約と並べ替えと射影と選択と走査と出力と書き込みと読み取りと",
		"e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86\xcc\x87\xcc\x88 combining",
		"\xe2\x80\xae right to left", "\033[31m\033[2J\007 terminal", "two\nlines\tand \"quotes\", commas",
		"no \xff\xfe\xc3( utf-8 \xed\xa0\x80", "=cmd|' /C calc'!A0", "<script>&amp;</script>]]>",
		"\xf0\x9f\x98\x80\xf0\x9f\x98\x80 emoji",
		"\xcc\x81\xe2\x80\x8b", "",
	};
	static unsigned next;
	static char long_name[700];
	unsigned which = next++ % 12;

	if (hostile && which == 11)
		snprintf(long_name, sizeof(long_name), "%s %0600d", t, 0);
	return trace_string(!hostile ? t : which == 11 ? long_name : odd[which]);
}

static void component(uint32_t level, uint64_t id, const char *kind, uint64_t nr)
{
	struct trace_span called;
	char t[64];

	snprintf(t, sizeof(t), "%s %llu", kind, (unsigned long long)nr);
	called = name(t);
	PUT(component, 2, .level = level, .component = id, .name = called, .detail = name(""));
}

static void dictionary_link(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper)
{
	PUT(link, 2, .lower_level = lower_level, .upper_level = upper_level, .lower = lower, .upper = upper, .weight = 1);
}

static void level(uint32_t id, const char *called, uint32_t flags)
{
	PUT(level, 2, .level = id, .flags = flags, .name = name(called));
}

static void head(bool others)
{
	static const char *const names[] = { "cycles", "instructions", "page-faults", "context-switches", TRACE_EVENT_SWITCH };

	const struct trace_text command = { trace_string("synthetic") };
	struct trace_span executable;

	TRACE_PUT(w, header, 1, 0, PID, .version = TRACE_FORMAT_VERSION, .tool = trace_string("synthetic"), .real_ns = 1,
		  .host_name = trace_string("nowhere"), .machine = trace_string("x86_64"), .kernel = trace_string("none"),
		  .nr_cpus = NR_THREADS, .cwd = trace_string("/"), .command = { &command, 1 }, .way = trace_string("run"));
	for (uint32_t e = 0; e < (others ? sizeof(names) / sizeof(names[0]) : 1); e++)
		TRACE_PUT(w, event, 1, 0, PID, .event = e, .name = e < 3 ? name(names[e]) : trace_string(names[e]),
			  .unit = trace_string(e < 2 ? names[e] : "events"), .period = e < 2 ? 100000 : 1, .registers = REGISTERS,
			  .scope = trace_string("synthetic"));
	executable = name("/synthetic/engine");
	PUT(process, 1, .ppid = 1, .executable = executable, .comm = name("engine"));
	PUT(mmap, 1, .address = RUNTIME, .bytes = RUNTIME_BYTES, .prot = 5, .path = trace_string("/synthetic/engine"));
}

static bool with_marks;

static void mark(uint64_t time_ns, uint32_t action, const char *called, uint64_t instance, const char *what)
{
	PUT(mark, time_ns, .action = action, .instance = instance, .name = trace_string(called), .text = name(what));
}

static bool with_changes;
static uint64_t begin_ns, quarter_ns; /* of the samples' time */

static void tag(uint64_t time_ns, uint32_t where)
{
	const struct jitreg_tag_field field = { TASK, 0, 16 };
	const struct jitreg_range keeper = { RUNTIME, RUNTIME + RUNTIME_BYTES };

	PUT(tag, time_ns, .where = where, .check_mask = 0xfff00000u, .check_value = TAG, .fields = { &field, 1 },
	    .keepers = { &keeper, 1 });
}

static void query(void)
{
	level(OPERATOR, "operator", JITREG_LEVEL_PLAN);
	level(PIPELINE, "pipeline", 0);
	level(TASK, "task", 0);
	level(IR, "ir", 0);
	for (uint64_t i = 1; i <= NR_OPERATORS; i++) {
		component(OPERATOR, i, "operator", i);
		if (i > 1)
			PUT(edge, 2, .level = OPERATOR, .from = i, .to = i - 1);
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
	tag(2, 13);
	if (with_changes)
		tag(begin_ns + 3 * quarter_ns, 12);
	if (!with_marks)
		mark(3, JITREG_MARK_BEGIN, "run", 1, "");
	for (uint64_t i = 0; with_marks && i < 8; i++) { /* 0.2 ms of compiling, then 0.5 or 1 ms of running */
		if (i < 3) {
			mark(801000 + i * 1250000, JITREG_MARK_BEGIN, "compile", i, i % 2 ? "q2" : "q1");
			mark(1001000 + i * 1250000, JITREG_MARK_END, "compile", i, "");
		}
		mark(1001000 + i * 1250000, JITREG_MARK_BEGIN, "run", i, i % 2 ? "q2" : "q1");
		mark(1001000 + i * 1250000 + (i % 2 ? 1000000 : 500000), JITREG_MARK_END, "run", i, "");
	}
}

static void load(uint64_t i, uint64_t time_ns, const char *called)
{
	PUT(load, time_ns, .pid = PID, .tid = PID, .vma = CODE + i * CODE_STEP, .code_addr = CODE + i * CODE_STEP, .code_size = 256,
	    .code_index = i, .name = name(called));
}

static void function(uint64_t i, uint64_t time_ns, const char *kind)
{
	struct jitreg_code_map_entry entries[16];
	char called[32];

	for (uint64_t n = 0; n < 16; n++)
		entries[n] = (struct jitreg_code_map_entry){ n * 16, IR, 1 + (i * 16 + n + 7 * (time_ns > begin_ns)) % NR_IR };
	PUT(code_map, time_ns, .code_addr = CODE + i * CODE_STEP, .entries = { entries, 16 });
	snprintf(called, sizeof(called), "%s_%llu", kind, (unsigned long long)i);
	load(i, time_ns, called);
}

static void code(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		function(i, 2 + i, "function");
	for (uint64_t i = 0; i < nr && with_changes; i += 2)
		function(i, begin_ns + 2 * quarter_ns + i, "other");
	if (with_changes)
		TRACE_PUT(w, fork, begin_ns + quarter_ns, PID + 1, PID + 1, .ppid = PID, .ptid = PID);
}

/* From the middle on, a helper is inlined. */
static void inlined(uint64_t i, const char *file)
{
	struct trace_line entries[3];
	char called[2][128];

	snprintf(called[0], sizeof(called[0]), "function_%llu\n%s", (unsigned long long)i / 2, file);
	snprintf(called[1], sizeof(called[1]), "helper\n%s", file);
	for (uint64_t n = 0; n < 3; n++)
		entries[n] = (struct trace_line){ CODE + i * CODE_STEP + (n ? 128 : 0), n == 2 ? 1 + 10 * (i / 2) + 3 : 0, n / 2,
						  trace_string(called[n / 2]) };
	PUT(inlines, 2 + i, .code_addr = CODE + i * CODE_STEP, .nr_entry = 3, .entries = { entries, 3 });
}

/* As V8 names them: each second one is the one before it, optimised. */
static void functions(uint64_t nr)
{
	char called[128], file[40];

	for (uint64_t i = 0; i < nr; i++) {
		unsigned long long which = i / 2;
		struct trace_line entries[8];

		snprintf(file, sizeof(file), "/synthetic/app/module_%llu.js", which % 7);
		for (uint64_t n = 0; n < 8; n++)
			entries[n] = (struct trace_line){ CODE + i * CODE_STEP + n * 32, 1 + 10 * which + n, 0, trace_string(file) };
		PUT(debug_info, 2 + i, .code_addr = CODE + i * CODE_STEP, .nr_entry = 8, .entries = { entries, 8 });
		if (i % 2)
			inlined(i, file);
		snprintf(called, sizeof(called), "JS:%cfunction_%llu %s:%llu:9", i % 2 ? '*' : '^', which, file, 1 + 10 * which);
		load(i, 2 + i, called);
	}
}

static uint64_t random_number(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static bool with_addresses;
enum { CYCLES, INSTRUCTIONS, FAULTS, LEAVES, SWITCHES, NR_EVENTS };
static struct samples *events[NR_EVENTS];

struct moment {
	uint64_t ip, time_ns, thread, address, weight, tag, tag_before, noise;
	uint32_t pid;
	bool kernel, registers;
};

static void add(int event, const struct moment *m)
{
	uint64_t record[24], *at = record + 1;
	struct perf_event_header *h = (void *)record;
	struct sample_seen seen;
	uint32_t written;

	*at++ = m->kernel ? 0xffffffff81000000ull + m->noise % 4096 : m->ip;
	*at++ = m->pid | (PID + m->thread) << 32;
	*at++ = m->time_ns;
	if (event >= FAULTS || with_addresses)
		*at++ = m->address;
	*at++ = m->thread;
	*at++ = m->weight;
	*at++ = m->registers ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE;
	if (m->registers) {
		*at++ = m->ip;
		*at++ = m->tag_before;
		*at++ = m->tag;
	}
	*h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = (uint16_t)((char *)at - (char *)record),
					 .misc = m->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER };
	if (samples_add(events[event], h, &seen))
		exit(1);
	if (perf.f && event == CYCLES)
		perf_file_record(&perf, h);
	if (samples_full(events[event]))
		samples_flush(events[event], w, &written);
}

/* What else happens around one sample of the cycles. */
static void add_others(uint64_t i, struct moment m, uint64_t task)
{
	static uint64_t walk = 0x7f2000000000ull;

	if (i % 2 == 0) {
		m.weight = 50000 + 100000 * (task % 3); /* some tasks do more with a cycle */
		add(INSTRUCTIONS, &m);
	}
	if (i % 5 == 0) {
		m.weight = 1;
		m.address = task == 1 ? (walk += 4096) : 0x7f2000000000ull + m.noise % (1 << 24);
		add(FAULTS, &m);
	}
	if (i % 20 == 0) {
		m.address = 0;
		m.weight = 1;
		add(LEAVES, &m);
		m.registers = m.kernel = false;
		m.ip = 0;
		m.weight = i % 60 == 0 ? TRACE_SWITCH_PREEMPTED : TRACE_SWITCH_WAITS;
		m.time_ns += 100;
		add(SWITCHES, &m);
		m.weight = TRACE_SWITCH_IN;
		m.time_ns += 2000 * (1 + task);
		add(SWITCHES, &m);
	}
}

#define COLUMN 0x7f4000000000ull
#define TABLE 0x7f4100000000ull
#define OTHER_COLUMN 0x7f4200000000ull
#define STACK 0x7ffc00000000ull
#define MEMORY_BYTES (8ull << 20)

static void memory_named(uint64_t at, const char *called)
{
	PUT(memory, 1, .address = at, .bytes = MEMORY_BYTES, .name = name(called));
}

static void all_memory(void)
{
	memory_named(COLUMN, "l_orderkey");
	memory_named(OTHER_COLUMN, "o_orderdate");
	memory_named(TABLE, "hash table");
	PUT(mmap, 1, .address = STACK, .bytes = 1u << 16, .prot = 3, .path = trace_string("[stack]"));
}

/* Four instructions in each code object. */
static void touch(struct moment *m, uint64_t r)
{
	static uint64_t rows;

	rows += 1 + r % 50;
	m->ip = m->ip / CODE_STEP * CODE_STEP + r % 4 * 16;
	switch (r % 4) {
	case 0:
		m->address = COLUMN + rows * 8 % MEMORY_BYTES;
		break;
	case 1:
		m->address = TABLE + random_number() % (MEMORY_BYTES / 32) * 32;
		break;
	case 2:
		m->address = OTHER_COLUMN + rows * 8 / 512 * 512 % MEMORY_BYTES;
		break;
	default:
		m->address = STACK + 0x810 + m->thread * 4096;
	}
}

/* This program is the one that perf.data has mapped: it has symbols. */
static void begin_perf(const struct perf_event_attr *attr, uint64_t nr_code)
{
	char name_of_map[4096], self[256] = "";
	FILE *map;

	snprintf(name_of_map, sizeof(name_of_map), "%s.map", perf_path);
	map = fopen(name_of_map, "w");
	if (!map || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || perf_file_open(&perf, perf_path, attr, PID, "engine"))
		exit(1);
	perf_file_map(&perf, PID, RUNTIME, RUNTIME_BYTES, self);
	perf_file_map(&perf, PID, CODE, nr_code * CODE_STEP, "//anon");
	for (uint64_t i = 0; i < nr_code; i++)
		fprintf(map, "%llx 100 function_%llu\n", CODE + (unsigned long long)i * CODE_STEP, (unsigned long long)i);
	fclose(map);
}

static void change(struct moment *m)
{
	uint64_t quarter = (m->time_ns - begin_ns) / quarter_ns;

	if (quarter >= 1 && m->thread > 1)
		m->pid = PID + 1;
	if (quarter == 1 || quarter == 2)
		m->weight += m->noise % 1000;
	if (quarter >= 3) {
		m->tag_before = m->tag;
		m->tag = m->noise;
	}
}

static void all_samples(uint64_t nr, uint64_t nr_code, bool others)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						       PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER,
					.sample_regs_user = REGISTERS };
	uint32_t written;

	for (int e = 0; e < (others ? NR_EVENTS : 1); e++) {
		if (e == FAULTS || with_addresses)
			attr.sample_type |= PERF_SAMPLE_ADDR;
		if (samples_create((uint32_t)e, &attr, &events[e]))
			exit(1);
		if (perf_path && e == CYCLES)
			begin_perf(&attr, nr_code);
	}
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t r = random_number(), hot = (r >> 8) % 64, kind = (r >> 16) % 10, task = 1 + (r >> 32) % NR_TASKS;
		uint64_t object = (hot < 60 ? hot * 37 : r >> 20) % nr_code;
		struct moment m = { .ip = kind < 5 ? CODE + object * CODE_STEP + (r >> 40) % 64 * 4 : RUNTIME + (r >> 40) % 2000 * 4,
				    .time_ns = begin_ns + i * 25000, .pid = PID, .thread = r % NR_THREADS, .weight = 100000,
				    .tag = TAG | task, .noise = r, .kernel = kind == 9, .registers = true };

		if (with_changes)
			change(&m);
		if (with_addresses && kind < 5)
			touch(&m, r >> 44);
		add(CYCLES, &m);
		if (others)
			add_others(i, m, task);
	}
	for (int e = 0; e < (others ? NR_EVENTS : 1); e++) {
		samples_flush(events[e], w, &written);
		samples_destroy(events[e]);
	}
	if (perf.f && perf_file_close(&perf))
		exit(1);
}

/* A processor for each thread; or one thread that was on one of them for half of the time, and on another for the rest. */
static void counts(bool others, bool migrated)
{
	for (uint32_t e = CYCLES; e <= (others ? INSTRUCTIONS : CYCLES); e++)
		for (uint32_t cpu = 0; cpu < NR_THREADS; cpu++)
			PUT(count, 4, .event = e, .cpu = cpu, .value = 1000000, .enabled_ns = migrated ? 4000 * NR_THREADS : 4000,
			    .running_ns = !migrated && e == CYCLES && cpu == 0 ? 1000 : 4000, .samples = 100,
			    .lost = !migrated && e == INSTRUCTIONS ? 50 : 0, .on_cpu_ns = migrated && e == CYCLES ? 0 : 4000);
}

int main(int argc, char **argv)
{
	bool others = false, plain = false, turns = false, migrated = false;
	uint64_t nr = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, nr_code = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct diag d;

	for (int i = 4; i < argc; i++) {
		others |= strcmp(argv[i], "events") == 0;
		hostile |= strcmp(argv[i], "names") == 0;
		with_marks |= strcmp(argv[i], "marks") == 0;
		with_changes |= strcmp(argv[i], "changes") == 0;
		turns |= strcmp(argv[i], "turns") == 0;
		migrated |= strcmp(argv[i], "migrated") == 0;
		plain |= strcmp(argv[i], "functions") == 0;
		with_addresses |= strcmp(argv[i], "memory") == 0;
		if (strncmp(argv[i], "perf=", 5) == 0)
			perf_path = argv[i] + 5;
	}
	if (!nr || !nr_code) {
		fprintf(stderr, "usage: synthetic SAMPLES OBJECTS OUT [events] [names] [functions] [memory] [turns] [migrated] "
			"[marks] [changes] [perf=FILE]\n");
		return 2;
	}
	if (trace_writer_open(argv[3], true, &w, &d)) {
		fprintf(stderr, "synthetic: %s\n", d.text);
		return 1;
	}
	begin_ns = 1000000 + nr_code;
	quarter_ns = nr * 25000 / 4 + 1;
	head(others);
	if (plain) {
		functions(nr_code);
	} else {
		query();
		code(nr_code);
	}
	if (with_addresses)
		all_memory();
	all_samples(nr, nr_code, others);
	if (turns || migrated)
		counts(others, migrated);
	TRACE_PUT(w, end, 1000000 + nr_code + nr * 25000, 0, 0);
	return trace_writer_close(w) ? 1 : 0;
}
