/* SPDX-License-Identifier: MIT */
/*
 * import*.c: what records of a perf.data file become in a trace, on which clock, with files of JITs that are still there, and with
 * what another trace knows.  PERF_DATA_SEEDS=FOLDER writes some of the files for the fuzzer.
 */
#include "agent/recorder/images/kallsyms.h"
#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/import/import.h"

#include "jitreg/trace/reader.h"
#include "tests/unit/perf_data_of_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[64], input[96], output[96], with[96], said[4096];
static struct diag d;
static struct import_result result;

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test_import.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(input, sizeof(input), "%s/perf.data", folder);
	snprintf(output, sizeof(output), "%s/t.tlr", folder);
	snprintf(with, sizeof(with), "%s/said.tlr", folder);
	said[0] = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(input);
	unlink(output);
	unlink(with);
	return rmdir(folder);
}

static void hear(void *context, const char *sentence)
{
	(void)context;
	strncat(said, sentence, sizeof(said) - strlen(said) - 1);
}

static int import_with(struct made *m, const char *other)
{
	struct import_options o = { .input = input, .output = output, .with = other, .notice = hear };
	FILE *f = fopen(input, "wb");

	made_finish(m);
	assert_int_equal(fwrite(m->file.at, 1, m->file.nr, f), m->file.nr);
	fclose(f);
	return import_file(&o, &result, &d);
}

static void import(struct made *m)
{
	assert_int_equal(import_with(m, NULL), 0);
}

/* The nth record of an id in the trace, its texts and bytes with it until the next call.  False: there are not so many. */
static bool find(const char *path, uint32_t id, int nth, struct trace_record *r)
{
	static struct trace_reader *t;
	bool found = false;

	if (t)
		trace_close(t);
	t = NULL;
	if (!path)
		return false;
	assert_int_equal(trace_open(path, &t, &d), 0);
	while (!found && trace_next(t, r) == 1)
		found = r->id == id && nth-- == 0;
	return found;
}

static void expect_text(const struct trace_record *r, int field, const char *wanted)
{
	char *text = trace_text(r, field);

	assert_string_equal(text, wanted);
	free(text);
}

static void save_seed(const struct made *m, const char *name)
{
	const char *to = getenv("PERF_DATA_SEEDS");
	char path[256];
	FILE *f;

	if (!to)
		return;
	snprintf(path, sizeof(path), "%s/%s", to, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(m->file.at, 1, m->file.nr, f), m->file.nr);
	fclose(f);
}

/* --------------------------------------------------------------------------------------------------- tasks, images */

static struct made *life_of_a_process(void)
{
	struct made *m = make();

	put_build_id(made_feature(m, FEATURE_BUILD_ID), PID, 0xaa, "/nowhere/a.so");
	add_comm(m, PID, "before", false, 0); /* made up, as the next three */
	add_mmap2(m, PID, 0x400000, "/nowhere/a.so", PROT_READ | PROT_EXEC, 0, 0);
	add_task(m, PERF_RECORD_FORK, 1u << 13, PID + 9, PID, PID + 9, 0);
	MADE_WORDS(m, PERF_RECORD_MMAP, 0, WHO(UINT32_MAX, 0), UINT64_MAX - 0xffff, 0x1000, 0, 0, WHO(0, 0), 0, 1, 0); /* the kernel's */
	add_task(m, PERF_RECORD_FORK, 0, PID + 1, PID, PID + 1, 1000);
	add_comm(m, PID + 1, "child", true, 1100);
	add_mmap2(m, PID + 1, 0x500000, "/nowhere/b.so", PROT_READ | PROT_EXEC, 0xbb, 1200);
	add_mmap2(m, PID + 1, 0x600000, "/nowhere/data", PROT_READ, 0, 1300);
	add_sample(m, PID + 1, 0x500010, 1400);
	add_task(m, PERF_RECORD_EXIT, 0, PID + 1, PID, PID + 1, 1500);
	MADE_WORDS(m, PERF_RECORD_LOST, 0, made_id(0, 0), 5, WHO(PID, PID), 1600, 1, made_id(0, 0));
	MADE_WORDS(m, PERF_RECORD_LOST_SAMPLES, 0, 2, WHO(PID, PID), 1600, 1, made_id(0, 0));
	MADE_WORDS(m, PERF_RECORD_THROTTLE, 0, 1650, made_id(0, 0), 0, WHO(PID, PID), 1650, 1, made_id(0, 0));
	MADE_WORDS(m, PERF_RECORD_EXIT, 0, 1); /* too short */
	add_sample(m, PID, 0x400010, 1700);
	return m;
}

static void tasks_and_mappings_become_records(void **state)
{
	struct trace_record r;
	size_t n;

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		struct made *m = life_of_a_process();

		m->pipe = pipe;
		import(m);
		save_seed(m, pipe ? "pipe" : "file");
		assert_int_equal(result.samples, 2);
		assert_int_equal(result.lost, 7);

		assert_true(find(output, TRACE_HEADER, 0, &r));
		expect_text(&r, F(header, host_name), "host");
		expect_text(&r, F(header, kernel), "0.0.1");
		assert_non_null(strstr(trace_bytes(&r, F(header, tool), &n), "from perf 6.1"));
		assert_true(find(output, TRACE_EVENT, 0, &r));
		expect_text(&r, F(event, name), "cycles");
		assert_int_equal(trace_u64(&r, F(event, rate)), 4000);
		assert_int_equal(trace_u64(&r, F(event, period)), 0);

		/* what perf made up of what was there before comes first */
		assert_true(find(output, TRACE_PROCESS, 0, &r));
		expect_text(&r, F(process, comm), "before");
		assert_int_equal(r.pid, PID);
		assert_int_equal(r.time_ns, 999);
		assert_true(find(output, TRACE_MMAP, 0, &r));
		assert_int_equal(r.time_ns, 999);
		assert_int_equal(trace_u64(&r, F(mmap, address)), 0x400000);
		expect_text(&r, F(mmap, path), "/nowhere/a.so");
		assert_int_equal(((const unsigned char *)trace_bytes(&r, F(mmap, build_id), &n))[19], 0xaa);
		assert_int_equal(n, 20);

		assert_true(find(output, TRACE_FORK, 0, &r));
		assert_int_equal(r.pid, PID + 1);
		assert_int_equal(r.time_ns, 1000);
		assert_int_equal(trace_u64(&r, F(fork, ppid)), PID);
		assert_false(find(output, TRACE_FORK, 1, &r));
		assert_true(find(output, TRACE_COMM, 0, &r));
		expect_text(&r, F(comm, comm), "child");
		assert_int_equal(trace_u64(&r, F(comm, exec)), 1);
		assert_true(find(output, TRACE_MMAP, 1, &r));
		assert_int_equal(trace_u64(&r, F(mmap, address)), 0x500000);
		assert_int_equal(trace_u64(&r, F(mmap, bytes)), 0x3000);
		assert_int_equal(trace_u64(&r, F(mmap, file_offset)), 0x1000);
		assert_int_equal(((const unsigned char *)trace_bytes(&r, F(mmap, build_id), &n))[0], 0xbb);
		assert_false(find(output, TRACE_MMAP, 2, &r)); /* neither data nor the kernel's */
		assert_true(find(output, TRACE_EXIT, 0, &r));
		assert_int_equal(r.time_ns, 1500);
		assert_false(find(output, TRACE_EXIT, 1, &r));

		for (int i = 0; i < 3; i++) {
			static const char *const reasons[] = { "ring full", "throttled", "ring malformed" };

			assert_true(find(output, TRACE_LOSS, i, &r));
			expect_text(&r, F(loss, reason), reasons[i]);
			assert_int_equal(trace_u64(&r, F(loss, count)), i == 0 ? 7 : 1);
		}
		/* files that are not there any more have a reason */
		for (int i = 0; i < 2; i++) {
			assert_true(find(output, TRACE_IMAGE_FILE, i, &r));
			expect_text(&r, F(image_file, reason), "No such file or directory");
		}
		assert_true(find(output, TRACE_END, 0, &r));
		assert_int_equal(trace_u64(&r, F(end, samples)), 2);
		find(NULL, 0, 0, &r);
	}
}

/* --------------------------------------------------------------------------------------------------------- samples */

/* 0: user code with callers in the kernel and of the user, a branch stack, registers and a stack; 1: the kernel's. */
static void add_full_sample(struct made *m, int kind)
{
	struct bytes *b = calloc(1, sizeof(*b));

	put_u64(b, made_id(0, 1));
	put_u64(b, kind ? 0xffffffff81000000 : 0x400010);
	put_u64(b, WHO(PID, PID + 1));
	put_u64(b, 2000 + (uint64_t)kind);
	put_u64(b, 0xabc0); /* address */
	put_u64(b, 3);	    /* processor */
	put_u64(b, 77);	    /* period */
	put_u64(b, 6);
	put_u64(b, PERF_CONTEXT_KERNEL);
	put_u64(b, 0xffffffff81000000);
	put_u64(b, 0xffffffff82000000);
	put_u64(b, PERF_CONTEXT_USER);
	put_u64(b, 0x400010);
	put_u64(b, 0x400020);
	put_u32(b, 4); /* raw bytes */
	put_u32(b, 0xdddddddd);
	put_u64(b, 2); /* branches */
	put_zeros(b, 2 * 24);
	put_u64(b, PERF_SAMPLE_REGS_ABI_64);
	put_u64(b, 11);
	put_u64(b, 12);
	put_u64(b, 13);
	put_u64(b, 16); /* a stack, 8 bytes of which are one */
	put(b, "12345678abcdefgh", 16);
	put_u64(b, 8);
	put_u64(b, 55); /* latency */
	put_u64(b, 66); /* data source */
	made_record(m, PERF_RECORD_SAMPLE, kind ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, b);
	free(b);
}

static void samples_come_with_all_that_they_say(void **state)
{
	struct made *m = make();
	struct sample_block b = { 0 };
	struct trace_record r;
	size_t bytes;

	(void)state;
	m->nr_events = 3;
	m->name[1] = "dummy:HG";
	m->name[2] = "loads";
	m->attr[1] = m->attr[2] = m->attr[0];
	m->attr[1].type = PERF_TYPE_SOFTWARE;
	m->attr[1].config = PERF_COUNT_SW_DUMMY;
	m->attr[2].sample_type = BASE & ~(uint64_t)PERF_SAMPLE_PERIOD;
	m->attr[2].freq = 0;
	m->attr[2].sample_period = 9000;
	m->attr[0].sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
				  PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	m->attr[0].sample_regs_user = 0x182; /* bx, sp, ip */
	m->attr[0].sample_stack_user = 16;
	add_full_sample(m, 0);
	add_full_sample(m, 1);
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(2, 0), 0x400030, WHO(PID, PID), 2002, 0);
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 0), 0x400030, WHO(PID, PID), 2003); /* too short */
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 999, 0x400030, WHO(PID, PID), 2004, 0, 1);	/* of no event */
	import(m);
	save_seed(m, "samples");
	assert_int_equal(result.samples, 3);

	/* perf's dummy is no event of the trace */
	assert_true(find(output, TRACE_EVENT, 0, &r));
	expect_text(&r, F(event, name), "cycles");
	assert_int_equal(trace_u64(&r, F(event, registers)), 0x182);
	assert_true(find(output, TRACE_EVENT, 1, &r));
	expect_text(&r, F(event, name), "loads");
	assert_int_equal(trace_u64(&r, F(event, period)), 9000);
	assert_false(find(output, TRACE_EVENT, 2, &r));
	assert_true(find(output, TRACE_LOSS, 0, &r));
	expect_text(&r, F(loss, reason), "ring malformed");
	assert_int_equal(trace_u64(&r, F(loss, count)), 2);

	assert_true(find(output, TRACE_SAMPLES, 0, &r));
	assert_int_equal(sample_block_decode(&r, &b), 0);
	assert_int_equal(b.event, 0);
	assert_int_equal(b.nr, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(b.column[SAMPLE_COLUMN_TIME][i], 2000 + i);
		assert_int_equal(b.column[SAMPLE_COLUMN_PID][i], PID);
		assert_int_equal(b.column[SAMPLE_COLUMN_TID][i], PID + 1);
		assert_int_equal(b.column[SAMPLE_COLUMN_CPU][i], 3);
		assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][i], 77);
		assert_int_equal(b.column[SAMPLE_COLUMN_ADDRESS][i], 0xabc0);
		assert_int_equal(b.column[SAMPLE_COLUMN_LATENCY][i], 55);
		assert_int_equal(b.column[SAMPLE_COLUMN_DATA_SOURCE][i], 66);
		assert_int_equal(b.column[SAMPLE_COLUMN_MODE][i], i ? SAMPLE_MODE_KERNEL : SAMPLE_MODE_USER);
		assert_true(b.column[SAMPLE_COLUMN_IP][i] == (i ? 0xffffffff81000000 : 0x400010));
		assert_int_equal(b.registers[1][i], 11);
		assert_int_equal(b.registers[7][i], 12);
		assert_int_equal(b.registers[8][i], 13);
		assert_memory_equal(sample_block_stack(&b, i, &bytes), "12345678", 8);
		assert_int_equal(bytes, 8);
		/* of the chain, the user's callers */
		assert_int_equal(b.chain_offset[i + 1] - b.chain_offset[i], 1);
		assert_int_equal(b.chain[b.chain_offset[i]], 0x400020);
	}
	assert_true(find(output, TRACE_SAMPLES, 1, &r));
	assert_int_equal(sample_block_decode(&r, &b), 0);
	assert_int_equal(b.event, 1);
	assert_int_equal(b.nr, 1);
	assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][0], 9000); /* where samples do not say it, the event does */
	sample_block_fini(&b);
	find(NULL, 0, 0, &r);
}

static void switches_are_samples_of_an_event_of_their_own(void **state)
{
	struct made *m = make();
	struct sample_block b = { 0 };
	struct trace_record r;

	(void)state;
	m->attr[0].type = PERF_TYPE_SOFTWARE;
	m->attr[0].config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	m->attr[0].context_switch = 1;
	m->name[0] = "context-switches";
	add_sample(m, PID, 0x400010, 1000);
	MADE_WORDS(m, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, WHO(PID, PID), 1010, 1, made_id(0, 0));
	MADE_WORDS(m, PERF_RECORD_SWITCH_CPU_WIDE, 0, WHO(0, 0), WHO(PID, PID), 1020, 1, made_id(0, 0)); /* who was before; who is */
	import(m);
	assert_true(find(output, TRACE_EVENT, 1, &r));
	expect_text(&r, F(event, name), TRACE_EVENT_SWITCH);
	assert_true(find(output, TRACE_SAMPLES, 1, &r));
	assert_int_equal(sample_block_decode(&r, &b), 0);
	assert_int_equal(b.nr, 2);
	assert_int_equal(b.column[SAMPLE_COLUMN_TIME][0], 1010);
	assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][0], TRACE_SWITCH_WAITS);
	assert_int_equal(b.column[SAMPLE_COLUMN_TID][1], PID);
	assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][1], TRACE_SWITCH_IN);
	sample_block_fini(&b);
	find(NULL, 0, 0, &r);
}

static void what_is_missing_is_said(void **state)
{
	struct made *m = make();
	struct trace_record r;

	(void)state;
	add_sample(m, PID, 0x400010, 1000);
	MADE_WORDS(m, MADE_AUXTRACE, 0, 16, 0, 0, 0, 0);
	put_zeros(&m->records, 16);
	add_sample(m, PID, 0x400010, 1001);
	put_record(&m->records, PERF_RECORD_SAMPLE, 0, "1234567", 7); /* its size is odd, but the next one stands where it should */
	import(m);
	assert_int_equal(result.samples, 2);
	assert_non_null(strstr(said, "has 16 bytes of AUX data (Intel PT and the like), which is not supported"));
	assert_true(find(output, TRACE_NOTICE, 0, &r));
	expect_text(&r, F(notice, kind), "refused");
	said[0] = 0;
	m = make();
	m->attr[0].sample_type |= PERF_SAMPLE_BRANCH_STACK;
	m->attr[0].branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 0), 0x400010, WHO(PID, PID), 1000, 1, 700, 1, 7, 8, 9);
	import(m);
	assert_int_equal(result.samples, 1);
	assert_string_equal(said, "call stacks of branch records (perf record --call-graph lbr) are not supported; record with "
				  "--call-graph fp or dwarf");
	said[0] = 0;
	m = make();
	add_mmap2(m, PID, 0x400000, "/nowhere/a.so", PROT_READ | PROT_EXEC, 0xaa, 900);
	add_mmap2(m, PID, 0x500000, "/bin/true", PROT_READ | PROT_EXEC, 0xbb, 900);
	add_mmap2(m, PID, 0x600000, "/bin/false", PROT_READ | PROT_EXEC, 0xbb, 900);
	for (uint64_t i = 4; i <= 6; i++)
		add_sample(m, PID, 0x100000 * i + 16, 1000);
	import(m);
	assert_non_null(strstr(said, "cannot read /nowhere/a.so; perf's cache (~/.debug) does not have what was sampled; their functions"));
	assert_non_null(strstr(said, "another build than was sampled lies at /bin/"));
	assert_non_null(strstr(said, " and 1 more file; perf's cache (~/.debug) does not have what was sampled; their functions"));
	said[0] = 0;
	m = make();
	add_sample(m, PID, 0x400010, 1000);
	put_zeros(&m->records, 64);
	import(m);
	assert_int_equal(result.samples, 1);
	assert_non_null(strstr(said, "is incomplete or damaged: read up to byte "));
	find(NULL, 0, 0, &r);
}

static void the_kernels_functions_have_names_where_it_is_the_same(void **state)
{
	unsigned char id[KERNEL_BUILD_ID_BYTES] = { 0 };
	const uint32_t id_bytes = (uint32_t)kernel_names_read_build_id(id);
	struct kallsyms symbols = { 0 };
	struct kallsyms_function f;
	struct trace_record r;
	const char *remedy;
	struct made *m;
	uint64_t text;

	(void)state;
	if (kernel_names_why_unavailable(&remedy) || id_bytes != 20 || kallsyms_read(&symbols, KALLSYMS_PATH) ||
	    !(text = kallsyms_find_address(&symbols, "_text")) || !kallsyms_find_function(&symbols, text + 1, &f)) {
		m = make(); /* who may not see addresses is told so */
		add_kernel(m, 0xffffffff81000000, id, 20);
		import(m);
		assert_non_null(strstr(said, "names of kernel functions unavailable ("));
		kallsyms_fini(&symbols);
		return;
	}
	m = make();
	add_kernel(m, text, id, 0);
	import(m);
	assert_non_null(strstr(said, "the file has no build id of the kernel"));
	assert_false(find(output, TRACE_KERNEL_FUNCTIONS, 0, &r));
	m = make();
	add_kernel(m, text + 4096, id, 20);
	import(m);
	assert_non_null(strstr(said, "the kernel has other addresses now"));
	assert_false(find(output, TRACE_KERNEL_FUNCTIONS, 0, &r));
	id[3] ^= 1;
	m = make();
	add_kernel(m, text, id, 20);
	import(m);
	assert_non_null(strstr(said, "the running kernel is not the one that was sampled"));
	assert_false(find(output, TRACE_KERNEL_FUNCTIONS, 0, &r));
	id[3] ^= 1;
	said[0] = 0;
	m = make();
	add_kernel(m, text, id, 20);
	import(m);
	assert_string_equal(said, "");
	assert_true(find(output, TRACE_KERNEL_FUNCTIONS, 0, &r));
	assert_int_equal(trace_element(&r.values[0], 0, 0).u, f.address);
	assert_int_equal(trace_element(&r.values[0], 0, 2).bytes, strlen(f.name));
	assert_memory_equal(trace_element(&r.values[0], 0, 2).p, f.name, strlen(f.name));
	find(NULL, 0, 0, &r);
	kallsyms_fini(&symbols);
}

/* ------------------------------------------------------------------------------------------------------------ times */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_trace(uint64_t time_ns, uint64_t real_ns, uint32_t pid, uint64_t exit_ns, bool end)
{
	struct trace_writer *w;

	assert_int_equal(trace_writer_open(with, true, &w, &d), 0);
	TRACE_PUT(w, header, time_ns, 0, 0, .version = TRACE_FORMAT_VERSION, .tool = trace_string("tailor"), .real_ns = real_ns);
	for (uint32_t other = 0; other < 2; other++)
		TRACE_PUT(w, load, time_ns, pid - other, pid, .vma = CODE, .code_addr = CODE, .code_size = 64,
			  .name = trace_string("generated"));
	TRACE_PUT(w, loss, time_ns, pid, pid, .reason = trace_string("log full"), .count = 3);
	TRACE_PUT(w, exit, exit_ns, pid, pid, .ppid = 1, .ptid = 1);
	trace_writer_flush_all(w);
	if (end)
		TRACE_PUT(w, end, exit_ns, 0, 0);
	assert_int_equal(trace_writer_close(w), 0);
}

static uint64_t first_sample_ns(void)
{
	struct sample_block b = { 0 };
	struct trace_record r;
	uint64_t t;

	assert_true(find(output, TRACE_SAMPLES, 0, &r));
	assert_int_equal(sample_block_decode(&r, &b), 0);
	t = b.column[SAMPLE_COLUMN_TIME][0];
	sample_block_fini(&b);
	find(NULL, 0, 0, &r);
	return t;
}

static void put_clock(struct made *m, uint32_t clock, uint64_t wall_ns, uint64_t clock_ns)
{
	struct bytes *f = made_feature(m, FEATURE_CLOCK);

	put_u32(f, 1);
	put_u32(f, clock);
	put_u64(f, wall_ns);
	put_u64(f, clock_ns);
}

static void other_clocks_become_ours_when_they_can(void **state)
{
	struct made *m = make();
	uint64_t ahead = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC), t;
	char host[256];

	(void)state;
	m->attr[0].clockid = CLOCK_REALTIME;
	add_sample(m, PID, 0x400010, ahead + 5000);
	import(m); /* the file has no reference time: it stays */
	assert_int_equal(first_sample_ns(), ahead + 5000);

	/* the wall's clock on this machine since it was started, and of another machine */
	put_clock(m, CLOCK_REALTIME, ahead + 9000, ahead + 9000);
	import(m);
	assert_int_equal(first_sample_ns(), ahead + 5000);
	gethostname(host, sizeof(host));
	made_feature(m, FEATURE_HOST)->nr = 0;
	put_text(&m->feature[FEATURE_HOST], host);
	import(m);
	t = first_sample_ns();
	assert_uint_in_range(t, 0, 5000 + 1000000000); /* clocks may be set, while we test, by as much as that */

	/* a trace of ours knows better, on any machine */
	make_trace(700, ahead + 500, PID, 900, true);
	assert_int_equal(import_with(m, with), 0);
	assert_int_equal(first_sample_ns(), 5000 + 200);

	m = make();
	m->nr_events = 2;
	m->attr[1] = m->attr[0];
	m->attr[1].sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	assert_int_equal(import_with(m, NULL), -ENOTSUP);
	assert_non_null(strstr(d.text, "samples of some events have no time; record with `perf record -T`"));
	m->attr[1] = m->attr[0];
	m->attr[1].clockid = CLOCK_BOOTTIME;
	add_sample(m, PID, 0x400010, 1);
	assert_int_equal(import_with(m, NULL), -ENOTSUP);
	assert_non_null(strstr(d.text, "different clocks"));
}

static void perfs_own_clock_is_set_by_who_ended_in_both_traces(void **state)
{
	struct made *m = make();
	struct trace_record r;

	(void)state;
	m->attr[0].use_clockid = 0;
	m->attr[0].clockid = 0;
	add_sample(m, PID, 0x400010, 50000);
	import(m);
	assert_string_equal(said, ""); /* nothing needs another clock */
	assert_int_equal(first_sample_ns(), 50000);
	make_trace(700, 0, PID, 900000, true);
	assert_int_equal(import_with(m, with), 0);
	assert_int_equal(result.registrations, 0);
	assert_non_null(strstr(said, "registrations of "));
	assert_non_null(strstr(said, "left out: times are of perf's default clock, and no process exited in both traces"));
	assert_int_equal(first_sample_ns(), 50000);
	add_task(m, PERF_RECORD_EXIT, 0, PID, 1, PID, 60000);
	said[0] = 0;
	assert_int_equal(import_with(m, with), 0);
	assert_string_equal(said, "");
	assert_int_equal(result.registrations, 1);
	assert_true(find(output, JITREG_LOAD, 0, &r));
	find(NULL, 0, 0, &r);
	assert_int_equal(first_sample_ns(), 50000 + 840000);
}

/* perf record --per-thread: what there is of time is the order. */
static void samples_without_a_time_keep_their_order(void **state)
{
	struct made *m = make();
	struct sample_block b = { 0 };
	struct trace_record r;
	uint64_t mapped_ns;

	(void)state;
	m->attr[0].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	m->attr[0].use_clockid = 0;
	m->attr[0].clockid = 0;
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0x1000, WHO(PID, PID), 700);
	MADE_WORDS(m, PERF_RECORD_MMAP, 0, WHO(PID, PID), 0x400000, 0x1000, 0, 0x612f, WHO(PID, PID));
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0x2000, WHO(PID, PID), 800);
	MADE_WORDS(m, PERF_RECORD_EXIT, 0, WHO(PID, 1), WHO(PID, 1), 77777777777, WHO(PID, PID)); /* of a clock that samples have not */
	import(m);
	assert_int_equal(result.samples, 2);
	assert_non_null(strstr(said, "have no time, only an order"));
	assert_true(find(output, TRACE_MMAP, 0, &r));
	mapped_ns = r.time_ns;
	assert_true(find(output, TRACE_SAMPLES, 0, &r));
	assert_int_equal(sample_block_decode(&r, &b), 0);
	assert_int_equal(b.column[SAMPLE_COLUMN_IP][0], 0x1000);
	assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][0], 700);
	assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][1], 800);
	assert_true(b.column[SAMPLE_COLUMN_TIME][0] < mapped_ns && mapped_ns < b.column[SAMPLE_COLUMN_TIME][1]);
	assert_true(find(output, TRACE_EXIT, 0, &r));
	assert_true(b.column[SAMPLE_COLUMN_TIME][1] < r.time_ns && r.time_ns < 1000000);
	sample_block_fini(&b);
	find(NULL, 0, 0, &r);
}

/* perf record -e '{a,b}:S': only the first has samples, which say what all have counted. */
static void each_counter_that_a_sample_reads_has_samples(void **state)
{
	static const struct { uint64_t time_ns, first, second; } samples[] = { { 1000, 50, 3 }, { 2000, 90, 3 }, { 3000, 91, 10 } };
	static const uint64_t weights[2][3] = { { 50, 40, 1 }, { 3, 7 } }, times[2][3] = { { 1000, 2000, 3000 }, { 1000, 3000 } };
	struct made *m = make();
	struct sample_block b = { 0 };
	struct trace_record r;

	(void)state;
	m->nr_events = 2;
	m->name[1] = "page-faults";
	m->attr[0].sample_type = (BASE & ~(uint64_t)PERF_SAMPLE_PERIOD) | PERF_SAMPLE_READ;
	m->attr[0].read_format = PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED;
	m->attr[1] = m->attr[0];
	m->attr[1].freq = 0;
	m->attr[1].sample_freq = 0;
	for (int i = 0; i < 3; i++)
		MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 1), 0x1000, WHO(PID, PID), samples[i].time_ns, 1,
			   2, 12345, samples[i].first, made_id(0, 1), samples[i].second, made_id(1, 1));
	/* a counter that nobody knows; more of them than there are */
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 1), 0x1000, WHO(PID, PID), 4000, 1, 1, 0, 7, 9999);
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 1), 0x1000, WHO(PID, PID), 4000, 1, UINT64_MAX / 2, 0, 7, 9999);
	import(m);
	save_seed(m, "group");
	assert_int_equal(result.samples, 5);
	for (uint32_t e = 0; e < 2; e++) {
		assert_true(find(output, TRACE_SAMPLES, (int)e, &r));
		assert_int_equal(sample_block_decode(&r, &b), 0);
		assert_int_equal(b.event, e);
		assert_int_equal(b.nr, 3 - e);
		for (uint32_t i = 0; i < b.nr; i++) {
			assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][i], weights[e][i]);
			assert_int_equal(b.column[SAMPLE_COLUMN_TIME][i], times[e][i]);
		}
	}
	sample_block_fini(&b);
	find(NULL, 0, 0, &r);
}

/* Registers and stack bytes of another architecture mean other things, so its samples keep their instructions, chains and times. */
static void samples_of_another_architecture_keep_their_chains(void **state)
{
	struct made *m = make();
	struct sample_block b = { 0 };
	struct trace_record r;

	(void)state;
	put_text(made_feature(m, FEATURE_MACHINE), "aarch64");
	m->attr[0].sample_type = (BASE & ~(uint64_t)PERF_SAMPLE_PERIOD) | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC;
	m->attr[0].sample_regs_user = 1ull << 30 | 1ull << 31; /* lr, sp */
	m->attr[0].sample_stack_user = 16;
	m->attr[0].freq = 0;
	m->attr[0].sample_period = 9000;
	add_mmap2(m, PID, 0x400000, "/bin/sh", PROT_READ | PROT_EXEC, 0, 0); /* this machine has such a file, which was not sampled */
	for (uint64_t i = 0; i < 3; i++)
		MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 0), 0x400010, WHO(PID, PID), 1000 + i, 2,
			   3, PERF_CONTEXT_USER, 0x400010, 0x2020 + i, PERF_SAMPLE_REGS_ABI_64, 30, 31, 16, 1, 2, 8, 66);
	import(m);
	save_seed(m, "aarch64");
	assert_int_equal(result.samples, 3);
	assert_non_null(strstr(said, "recorded on another architecture (aarch64): functions and recorded call chains are here; registers"));
	assert_true(find(output, TRACE_HEADER, 0, &r));
	expect_text(&r, F(header, machine), "aarch64");
	assert_true(find(output, TRACE_EVENT, 0, &r));
	assert_int_equal(trace_u64(&r, F(event, registers)), 0);
	assert_int_equal(trace_u64(&r, F(event, stack_bytes)), 0);
	assert_true(find(output, TRACE_SAMPLES, 0, &r));
	assert_int_equal(sample_block_decode(&r, &b), 0);
	assert_int_equal(b.nr, 3);
	assert_false(b.has_stacks);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(b.column[SAMPLE_COLUMN_TIME][i], 1000 + i);
		assert_int_equal(b.column[SAMPLE_COLUMN_CPU][i], 2);
		assert_int_equal(b.column[SAMPLE_COLUMN_WEIGHT][i], 9000);
		assert_int_equal(b.chain_offset[i + 1] - b.chain_offset[i], 1);
		assert_int_equal(b.chain[b.chain_offset[i]], 0x2020 + i);
	}
	sample_block_fini(&b);
	for (int n = 0; find(output, TRACE_IMAGE_FILE, n, &r); n++) {
		char *reason = trace_text(&r, F(image_file, reason));

		assert_true(*reason != 0);
		free(reason);
	}
	find(NULL, 0, 0, &r);
}

/* perf record -g: the user's instruction of a sample in the kernel is the chain's first. */
static void chains_without_registers_begin_with_the_instruction(void **state)
{
	struct made *m = make();
	struct sample_block b = { 0 };
	struct trace_record r;

	(void)state;
	m->attr[0].sample_type |= PERF_SAMPLE_CALLCHAIN;
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, made_id(0, 0), 0x1010, WHO(PID, PID), 1000, 1, 700,
		   3, PERF_CONTEXT_USER, 0x1010, 0x2020);
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, made_id(0, 0), 0xffffffff81000000, WHO(PID, PID), 1001, 1, 700,
		   5, PERF_CONTEXT_KERNEL, 0xffffffff81000000, PERF_CONTEXT_USER, 0x3030, 0x4040);
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, made_id(0, 0), 0xffffffff81000000, WHO(PID, PID), 1002, 1, 700,
		   2, PERF_CONTEXT_KERNEL, 0xffffffff81000000); /* a thread of the kernel */
	import(m);
	save_seed(m, "chains");
	assert_true(find(output, TRACE_SAMPLES, 0, &r));
	assert_int_equal(sample_block_decode(&r, &b), 0);
	assert_int_equal(b.nr, 3);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint64_t ip[] = { 0x1010, 0x3030, 0 }, caller[] = { 0x2020, 0x4040 };

		assert_int_equal(b.registers[8][i], ip[i]);
		assert_int_equal(b.column[SAMPLE_COLUMN_REGISTERS_ABI][i], i < 2 ? PERF_SAMPLE_REGS_ABI_64 : 0);
		assert_int_equal(b.chain_offset[i + 1] - b.chain_offset[i], i < 2);
		if (i < 2)
			assert_int_equal(b.chain[b.chain_offset[i]], caller[i]);
	}
	sample_block_fini(&b);
	find(NULL, 0, 0, &r);
}

/* ---------------------------------------------------------------------------------------------------- generated code */

static void another_trace_brings_what_sampled_processes_said(void **state)
{
	struct made *m = make();
	struct trace_record r;

	(void)state;
	add_sample(m, PID, CODE, 1000);
	make_trace(700, 5000, PID, 900, true);
	assert_int_equal(import_with(m, with), 0);
	assert_int_equal(result.registrations, 1);
	assert_string_equal(said, "");
	assert_true(find(output, JITREG_LOAD, 0, &r));
	assert_int_equal(r.pid, PID);
	assert_int_equal(r.time_ns, 700);
	expect_text(&r, F(load, name), "generated");
	assert_false(find(output, JITREG_LOAD, 1, &r));
	assert_true(find(output, TRACE_LOSS, 0, &r)); /* of registrations */
	expect_text(&r, F(loss, reason), "log full");
	assert_false(find(output, TRACE_EXIT, 0, &r)); /* perf would have told */

	make_trace(700, 5000, PID, 900, false);
	assert_int_equal(import_with(m, with), 0);
	assert_int_equal(result.registrations, 1);
	assert_non_null(strstr(said, "is incomplete or damaged"));
	said[0] = 0;
	make_trace(700, 5000, PID - 100, 900, true);
	assert_int_equal(import_with(m, with), 0);
	assert_int_equal(result.registrations, 0);
	assert_non_null(strstr(said, "has none of the processes that perf sampled"));
	find(NULL, 0, 0, &r);

	/* what is no trace, and what would be written over itself */
	assert_int_equal(import_with(m, input), -EBADMSG);
	assert_int_equal(import_with(m, "/nowhere"), -ENOENT);
	assert_int_equal(import_with(m, output), -EINVAL);
	assert_non_null(strstr(d.text, "is both input and output"));
	unlink(output);
	strcpy(output, input);
	assert_int_equal(import_with(m, NULL), -EINVAL);
}

static void put_dump(const char *path, uint64_t flags, uint64_t time_ns)
{
	struct bytes *b = calloc(1, sizeof(*b));
	FILE *f = fopen(path, "wb");

	put_u32(b, 0x4a695444); /* its header */
	put_u32(b, 1);
	put_u32(b, 40);
	put_u32(b, 62);
	put_u32(b, 0);
	put_u32(b, PID);
	put_u64(b, 0);
	put_u64(b, flags);
	put_u32(b, 0); /* a function */
	put_u32(b, 16 + 40 + 8 + 4);
	put_u64(b, time_ns);
	put_u64(b, WHO(PID, PID));
	put_u64(b, CODE + 0x1000);
	put_u64(b, CODE + 0x1000);
	put_u64(b, 4);
	put_u64(b, 1);
	put_room(b, "dumped", 8);
	put(b, "\x90\x90\x90\xc3", 4);
	assert_int_equal(fwrite(b->at, 1, b->nr, f), b->nr);
	fclose(f);
	free(b);
}

static void files_of_jits_that_are_still_there_are_read(void **state)
{
	struct timespec ages[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } };
	struct made *m = make();
	struct trace_record r;
	char map[64], dump[96];
	FILE *f;

	(void)state;
	snprintf(map, sizeof(map), "/tmp/perf-%u.map", PID);
	snprintf(dump, sizeof(dump), "%s/jit-%u.dump", folder, PID);
	f = fopen(map, "w");
	assert_non_null(f);
	fprintf(f, "%llx 40 mapped\n", CODE);
	fclose(f);
	put_dump(dump, 0, 1500);
	add_mmap2(m, PID, CODE, "//anon", PROT_READ | PROT_WRITE | PROT_EXEC, 0, 900);
	add_mmap2(m, PID, CODE + 0x100000, dump, PROT_READ | PROT_EXEC, 0, 910);
	add_sample(m, PID, CODE, 1000);
	add_sample(m, PID, CODE + 0x1000, 2000);
	import(m);
	assert_true(find(output, JITREG_LOAD, 0, &r));
	expect_text(&r, F(load, name), "mapped");
	assert_int_equal(r.pid, PID);
	assert_int_equal(r.time_ns, 900);
	assert_true(find(output, JITREG_LOAD, 1, &r));
	expect_text(&r, F(load, name), "dumped");
	assert_int_equal(r.time_ns, 1500);

	/* the processor's counter of another time says nothing: from when the file was mapped */
	put_dump(dump, 1, 1500);
	import(m);
	assert_true(find(output, JITREG_LOAD, 1, &r));
	assert_int_equal(r.time_ns, 910);

	/* on another clock nothing is known of when code was there; a map has no times */
	m->attr[0].use_clockid = 0;
	import(m);
	assert_non_null(strstr(said, "1 jitdump file left out: times are of perf's default clock; record with `perf record -k mono`"));
	assert_true(find(output, JITREG_LOAD, 0, &r));
	expect_text(&r, F(load, name), "mapped");
	assert_false(find(output, JITREG_LOAD, 1, &r));
	m->attr[0].use_clockid = 1;

	/* a map that is much younger than the recording is another process's */
	ages[1] = (struct timespec){ .tv_sec = time(NULL) + 1000 };
	assert_int_equal(utimensat(AT_FDCWD, map, ages, 0), 0);
	import(m);
	assert_true(find(output, JITREG_LOAD, 0, &r));
	expect_text(&r, F(load, name), "dumped");
	assert_false(find(output, JITREG_LOAD, 1, &r));
	find(NULL, 0, 0, &r);
	unlink(map);
	unlink(dump);
}

/* Opening them may do something. */
static void what_is_no_plain_file_is_not_opened(void **state)
{
	struct made *m = make();
	struct trace_record r;
	char fifo[96], dump[96];

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(dump, sizeof(dump), "%s/jit-1.dump", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(mkfifo(dump, 0600), 0);
	add_mmap2(m, PID, 0x400000, fifo, PROT_READ | PROT_EXEC, 0, 900);
	add_mmap2(m, PID, CODE, dump, PROT_READ | PROT_EXEC, 0, 900);
	add_sample(m, PID, 0x400010, 1000);
	import(m);
	assert_true(find(output, TRACE_IMAGE_FILE, 0, &r));
	expect_text(&r, F(image_file, path), fifo);
	assert_int_not_equal(trace_bytes(&r, F(image_file, reason), &(size_t){ 0 })[0], 0);
	assert_int_equal(trace_u64(&r, F(image_file, file_bytes)), 0);
	find(NULL, 0, 0, &r);
	unlink(fifo);
	unlink(dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tasks_and_mappings_become_records, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_come_with_all_that_they_say, setup, teardown),
		cmocka_unit_test_setup_teardown(switches_are_samples_of_an_event_of_their_own, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_missing_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(the_kernels_functions_have_names_where_it_is_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(other_clocks_become_ours_when_they_can, setup, teardown),
		cmocka_unit_test_setup_teardown(perfs_own_clock_is_set_by_who_ended_in_both_traces, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_without_a_time_keep_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(each_counter_that_a_sample_reads_has_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_of_another_architecture_keep_their_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(chains_without_registers_begin_with_the_instruction, setup, teardown),
		cmocka_unit_test_setup_teardown(another_trace_brings_what_sampled_processes_said, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_jits_that_are_still_there_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_plain_file_is_not_opened, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
