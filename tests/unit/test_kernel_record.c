/* SPDX-License-Identifier: MIT */
/* The kernel's records of tasks and mappings: what is in them, and none that ends too early. */
#include "agent/recorder/perf/kernel_record.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* All of it behind every record: pid, tid, time, cpu. */
static const struct perf_event_attr attr = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.sample_id_all = 1,
};

struct bytes {
	unsigned char b[512];
	size_t nr;
};

static void put(struct bytes *b, const void *from, size_t bytes)
{
	memcpy(b->b + b->nr, from, bytes);
	b->nr += bytes;
}

static void put32(struct bytes *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put64(struct bytes *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static void put_text(struct bytes *b, const char *text)
{
	put(b, text, strlen(text) + 1);
	while (b->nr % 8)
		b->b[b->nr++] = 0;
}

static struct bytes begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };
	struct bytes b = { .nr = 0 };

	put(&b, &h, sizeof(h));
	return b;
}

/* The id that all records of attr end with. */
static void end(struct bytes *b)
{
	uint16_t size;

	put32(b, 70);
	put32(b, 71);
	put64(b, 72000);
	put64(b, 3);
	size = (uint16_t)b->nr;
	memcpy(b->b + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

/* Whole it is understood; with each word less it is malformed or, where only a text is shorter, still within its bounds. */
static struct kernel_record take(const struct bytes *b, uint32_t fixed)
{
	struct kernel_record r;
	struct record_layout l;

	assert_int_equal(record_layout(&attr, &l), 0);
	for (size_t bytes = 8; bytes < b->nr; bytes += 8) {
		struct perf_event_header *h = guarded(b->b, bytes);

		h->size = (uint16_t)bytes;
		assert_int_equal(kernel_record(&l, h, &r), bytes < 8 + fixed + l.id_bytes ? -EBADMSG : 0);
		guarded_free(h, bytes);
	}
	assert_int_equal(kernel_record(&l, (const void *)b->b, &r), 0);
	assert_int_equal(r.id.pid, 70);
	assert_int_equal(r.id.tid, 71);
	assert_int_equal(r.id.time_ns, 72000);
	assert_int_equal(r.id.cpu, 3);
	return r;
}

static void put_mapping(struct bytes *b)
{
	put32(b, 10);
	put32(b, 11);
	put64(b, 0x7f0000001000);
	put64(b, 0x2000);
	put64(b, 0x3000);
}

static void check_mapping(const struct mapping *m, uint32_t prot, const char *path)
{
	assert_int_equal(m->pid, 10);
	assert_int_equal(m->tid, 11);
	assert_int_equal(m->prot, prot);
	assert_int_equal(m->address, 0x7f0000001000);
	assert_int_equal(m->bytes, 0x2000);
	assert_int_equal(m->offset, 0x3000);
	assert_int_equal(m->path_bytes, strlen(path));
	assert_memory_equal(m->path, path, strlen(path));
}

static void mappings_have_path_and_build_id(void **state)
{
	static const unsigned char id[20] = { 0xde, 0xad, 0xbe, 0xef, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };

	(void)state;
	for (unsigned char id_bytes = 0; id_bytes <= 21; id_bytes++) {
		struct bytes b = begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
		struct kernel_record r;

		put_mapping(&b);
		put(&b, (unsigned char[4]){ id_bytes }, 4);
		put(&b, id, sizeof(id));
		put32(&b, PROT_READ | PROT_EXEC);
		put32(&b, 0);
		put_text(&b, "/usr/lib/libx.so");
		end(&b);
		r = take(&b, 64);
		check_mapping(&r.mapping, PROT_READ | PROT_EXEC, "/usr/lib/libx.so");
		assert_int_equal(r.mapping.build_id_bytes, id_bytes <= 20 ? id_bytes : 0);
		if (r.mapping.build_id_bytes)
			assert_memory_equal(r.mapping.build_id, id, id_bytes);
	}
}

static void mappings_without_protection_are_code_or_data(void **state)
{
	(void)state;
	for (int data = 0; data < 2; data++) {
		struct bytes b = begin(PERF_RECORD_MMAP, data ? PERF_RECORD_MISC_MMAP_DATA : 0);
		struct kernel_record r;

		put_mapping(&b);
		put_text(&b, "//anon");
		end(&b);
		r = take(&b, 32);
		check_mapping(&r.mapping, data ? PROT_READ : PROT_READ | PROT_EXEC, "//anon");
		assert_null(r.mapping.build_id);
	}
}

/* A path that has no end goes up to the id, and not into it. */
static void texts_end_before_the_id(void **state)
{
	struct bytes b = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	struct kernel_record r;

	(void)state;
	put32(&b, 20);
	put32(&b, 21);
	put(&b, "abcdefgh", 8);
	end(&b);
	r = take(&b, 8);
	assert_int_equal(r.comm.pid, 20);
	assert_int_equal(r.comm.tid, 21);
	assert_true(r.comm.exec);
	assert_int_equal(r.comm.bytes, 8);
	assert_memory_equal(r.comm.name, "abcdefgh", 8);
}

static void tasks_come_and_go(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bytes b = begin(types[i], 0);
		struct kernel_record r;

		for (uint32_t v = 30; v < 34; v++)
			put32(&b, v);
		put64(&b, 34000);
		end(&b);
		r = take(&b, 24);
		assert_int_equal(r.task.header.type, types[i]);
		assert_int_equal(r.task.pid, 30);
		assert_int_equal(r.task.ppid, 31);
		assert_int_equal(r.task.tid, 32);
		assert_int_equal(r.task.ptid, 33);
		assert_int_equal(r.task.time_ns, 34000);
	}
}

static void times_of_another_clock_are_converted(void **state)
{
	static struct clock_pairs pairs;
	struct bytes b = begin(PERF_RECORD_FORK, 0);
	struct kernel_record r;
	struct record_layout l;

	(void)state;
	for (uint32_t v = 30; v < 34; v++)
		put32(&b, v);
	put64(&b, 34000);
	end(&b);
	clock_pairs_add(&pairs, 30000, 5030000);
	assert_int_equal(record_layout(&attr, &l), 0);
	l.clock = &pairs;
	assert_int_equal(kernel_record(&l, (const void *)b.b, &r), 0);
	assert_int_equal(r.task.time_ns, 5034000);
	assert_int_equal(r.id.time_ns, 5072000);
}

static void losses_are_counted_where_they_stand(void **state)
{
	struct bytes lost = begin(PERF_RECORD_LOST, 0), samples = begin(PERF_RECORD_LOST_SAMPLES, 0);

	(void)state;
	put64(&lost, 99); /* an id */
	put64(&lost, 40);
	end(&lost);
	assert_int_equal(take(&lost, 16).lost, 40);
	put64(&samples, 41);
	end(&samples);
	assert_int_equal(take(&samples, 8).lost, 41);
}

static void symbols_and_switches(void **state)
{
	struct bytes symbol = begin(PERF_RECORD_KSYMBOL, 0), out = begin(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	struct kernel_record r;

	(void)state;
	put64(&symbol, 0xffffffffc0000000);
	put32(&symbol, 512);
	put(&symbol, (uint16_t[2]){ PERF_RECORD_KSYMBOL_TYPE_BPF, 0 }, 4);
	put_text(&symbol, "bpf_prog_1");
	end(&symbol);
	r = take(&symbol, 16);
	assert_int_equal(r.symbol.address, 0xffffffffc0000000);
	assert_int_equal(r.symbol.bytes, 512);
	assert_int_equal(r.symbol.kind, PERF_RECORD_KSYMBOL_TYPE_BPF);
	assert_int_equal(r.symbol.name_bytes, 10);
	assert_memory_equal(r.symbol.name, "bpf_prog_1", 10);
	end(&out);
	take(&out, 0);
}

static void other_records_are_none_of_these(void **state)
{
	struct record_layout l;
	struct bytes b = begin(0, 0);

	(void)state;
	assert_int_equal(record_layout(&attr, &l), 0);
	end(&b);
	for (uint32_t type = 0; type < 200; type++) {
		struct perf_event_header *h = (struct perf_event_header *)b.b;
		struct kernel_record r;

		h->type = type;
		assert_true(kernel_record_is_known(type) == (kernel_record(&l, h, &r) != -ENOENT));
	}
	assert_false(kernel_record_is_known(PERF_RECORD_SAMPLE));
	assert_false(kernel_record_is_known(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_have_path_and_build_id),
		cmocka_unit_test(mappings_without_protection_are_code_or_data),
		cmocka_unit_test(texts_end_before_the_id),
		cmocka_unit_test(tasks_come_and_go),
		cmocka_unit_test(times_of_another_clock_are_converted),
		cmocka_unit_test(losses_are_counted_where_they_stand),
		cmocka_unit_test(symbols_and_switches),
		cmocka_unit_test(other_records_are_none_of_these),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
