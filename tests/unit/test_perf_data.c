/* SPDX-License-Identifier: MIT */
/* perf_data.c: both forms of the file, what its header says, whose a sample is, and files that are cut or lie. */
#include "agent/recorder/import/perf_data.h"

#include "tests/unit/perf_data_file.h"

#include <errno.h>

#define ALL (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

static _Alignas(8) unsigned char room[PERF_DATA_RECORD_BYTES];
static struct perf_event_header *const record = (void *)room;
static struct perf_data data;
static struct diag d;

static struct made *make(bool pipe)
{
	static struct made m;

	memset(&m, 0, sizeof(m));
	m.pipe = pipe;
	m.nr_events = 1;
	m.attr[0] = (struct perf_event_attr){ .sample_type = ALL, .sample_id_all = 1, .sample_period = 1000 };
	return &m;
}

static void add_sample(struct made *m, uint64_t id, uint64_t ip, uint64_t time_ns)
{
	MADE_WORDS(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, id, ip, 7 | 8ull << 32, time_ns, 1000);
}

static int init(struct made *m)
{
	made_finish(m);
	return perf_data_init(m->file.at, m->file.nr, "f", &data, &d);
}

static void expect_text(struct perf_data_text t, const char *wanted)
{
	assert_non_null(t.p);
	assert_int_equal(t.bytes, strlen(wanted));
	assert_memory_equal(t.p, wanted, t.bytes);
}

static void both_forms_say_the_same(void **state)
{
	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		struct made *m = make(pipe);
		const struct perf_data_build_id *id;
		struct perf_data_text word;
		struct bytes *f;
		struct perf_data_cursor c = { 0 };
		size_t word_at = 0;
		uint32_t event;

		m->name[0] = "cycles";
		put_text(made_feature(m, FEATURE_HOST), "host");
		put_text(made_feature(m, FEATURE_RELEASE), "6.1.0");
		put_text(made_feature(m, FEATURE_VERSION), "6.1");
		put_text(made_feature(m, FEATURE_MACHINE), "x86_64");
		f = made_feature(m, FEATURE_CPUS);
		put_u32(f, 8);
		put_u32(f, 4);
		f = made_feature(m, FEATURE_COMMAND);
		put_u32(f, 2);
		put_text(f, "perf");
		put_text(f, "record");
		f = made_feature(m, FEATURE_BUILD_ID);
		put_build_id(f, 7, 0xbb, "/usr/lib/b.so");
		put_build_id(f, 7, 0xaa, "/usr/lib/a.so");
		put_build_id(f, 7, 0xcc, "/usr/lib/a.so.1");
		f = made_feature(m, FEATURE_CLOCK);
		put_u32(f, 1);
		put_u32(f, 7);
		put_u64(f, 1700000000000000000);
		put_u64(f, 5000);
		add_sample(m, 100, 0x1000, 900);
		add_sample(m, 101, 0x2000, 800);
		assert_int_equal(init(m), 0);
		assert_int_equal(data.pipe, pipe);
		assert_false(data.cut);
		expect_text(data.host_name, "host");
		expect_text(data.release, "6.1.0");
		expect_text(data.version, "6.1");
		expect_text(data.machine, "x86_64");
		expect_text(data.event[0].name, "cycles");
		assert_int_equal(data.nr_cpus, 4);
		assert_int_equal(data.nr_words, 2);
		assert_true(perf_data_next_command_word(&data, &word_at, &word));
		expect_text(word, "perf");
		assert_true(perf_data_next_command_word(&data, &word_at, &word));
		expect_text(word, "record");
		assert_false(perf_data_next_command_word(&data, &word_at, &word));
		assert_int_equal(data.build_ids.nr, 3);
		for (int i = 0; i < 3; i++) {
			static const char *const paths[] = { "/usr/lib/a.so", "/usr/lib/b.so", "/usr/lib/a.so.1" };

			id = perf_data_find_build_id(&data, paths[i], strlen(paths[i]));
			assert_non_null(id);
			assert_int_equal(id->bytes, 20);
			assert_int_equal(id->id[0], 0xaa + 0x11 * i);
			assert_int_equal(id->id[19], 0xaa + 0x11 * i);
		}
		assert_null(perf_data_find_build_id(&data, "/usr/lib/a.s", 12));
		assert_true(data.has_clock);
		assert_int_equal(data.clock_id, 7);
		assert_int_equal(data.wall_ns, 1700000000000000000);
		assert_int_equal(data.clock_ns, 5000);
		assert_int_equal(data.nr_samples, 2);
		assert_int_equal(data.first_ns, 800);
		assert_int_equal(data.last_ns, 900);
		for (int nr = 0; perf_data_next_record(&data, &c, record);)
			if (record->type == PERF_RECORD_SAMPLE) {
				assert_int_equal(((uint64_t *)record)[2], 0x1000 * ++nr);
				assert_true(perf_data_find_event(&data, record, &event));
				assert_int_equal(event, 0);
			}
		perf_data_fini(&data);
	}
}

static void samples_of_several_events_are_told_apart_by_id(void **state)
{
	struct made *m;
	struct perf_data_cursor c = { 0 };
	uint32_t event;

	(void)state;
	/* with the id first, layouts may differ */
	m = make(false);
	m->nr_events = 3;
	m->attr[1] = m->attr[2] = m->attr[0];
	m->attr[1].sample_type |= PERF_SAMPLE_CPU;
	add_sample(m, made_id(0, 1), 1, 10);
	MADE_WORDS(m, PERF_RECORD_SAMPLE, 0, made_id(1, 0), 2, 0, 20, 3, 1000);
	add_sample(m, made_id(2, 1), 3, 30);
	MADE_WORDS(m, PERF_RECORD_LOST, 0, 4, 4, 7, 40, made_id(2, 0)); /* the id stands last */
	add_sample(m, 555, 5, 50); /* of nobody */
	assert_int_equal(init(m), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(perf_data_next_record(&data, &c, record));
		assert_true(perf_data_find_event(&data, record, &event));
		assert_int_equal(event, i);
	}
	assert_true(perf_data_next_record(&data, &c, record));
	assert_true(perf_data_find_event(&data, record, &event));
	assert_int_equal(event, 2);
	assert_true(perf_data_next_record(&data, &c, record));
	assert_false(perf_data_find_event(&data, record, &event));
	assert_int_equal(data.last_ns, 40); /* nobody knows where the last one's time stands */
	perf_data_fini(&data);

	/* without, they must be the same and have an id */
	m = make(false);
	m->nr_events = 2;
	m->attr[0].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
	m->attr[1] = m->attr[0];
	MADE_WORDS(m, PERF_RECORD_SAMPLE, 0, 1, 10, made_id(1, 1));
	assert_int_equal(init(m), 0);
	c = (struct perf_data_cursor){ 0 };
	assert_true(perf_data_next_record(&data, &c, record));
	assert_true(perf_data_find_event(&data, record, &event));
	assert_int_equal(event, 1);
	perf_data_fini(&data);
	m->attr[1].sample_type |= PERF_SAMPLE_CPU;
	assert_int_equal(init(m), -ENOTSUP);
	assert_non_null(strstr(d.text, "cannot be distinguished"));
	m->attr[0].sample_type = m->attr[1].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	assert_int_equal(init(m), -ENOTSUP);
}

static void attrs_of_older_and_newer_perfs_are_read(void **state)
{
	(void)state;
	for (int pipe = 0; pipe < 2; pipe++)
		for (size_t bytes = PERF_ATTR_SIZE_VER0; bytes < 200; bytes += 8) {
			struct made *m = make(pipe);

			m->attr_bytes = bytes;
			m->nr_events = 2;
			m->attr[1] = m->attr[0];
			add_sample(m, made_id(1, 0), 1, 10);
			assert_int_equal(init(m), 0);
			assert_int_equal(data.nr_events, 2);
			assert_int_equal(data.event[1].attr.sample_type, ALL);
			assert_int_equal(data.nr_samples, 1);
			assert_int_equal(data.last_ns, 10);
			perf_data_fini(&data);
		}
}

static void what_cannot_be_read_is_refused_in_a_sentence(void **state)
{
	struct made *m;

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		m = make(pipe);
		m->attr[0].sample_type |= 1ull << 60;
		assert_int_equal(init(m), -ENOTSUP);
		assert_non_null(strstr(d.text, "unknown sample type"));

		m = make(pipe);
		m->nr_events = 0;
		assert_int_equal(init(m), -EBADMSG);
		assert_non_null(strstr(d.text, "no events"));

		m = make(pipe);
		made_finish(m);
		memcpy(m->file.at, "2ELIFREP", 8);
		assert_int_equal(perf_data_init(m->file.at, m->file.nr, "f", &data, &d), -ENOTSUP);
		assert_non_null(strstr(d.text, "big-endian"));
		memcpy(m->file.at, "PERFILE1", 8);
		assert_int_equal(perf_data_init(m->file.at, m->file.nr, "f", &data, &d), -EBADMSG);
		assert_string_equal(d.text, "f is not a perf.data file");
	}
	m = make(false); /* PERF_DIR_VERSION 1 */
	put_u32(made_feature(m, 24), 1);
	assert_int_equal(init(m), -ENOTSUP);
	assert_non_null(strstr(d.text, "perf record --threads"));
	m = make(true);
	put_text(made_feature(m, FEATURE_MACHINE), "aarch64");
	assert_int_equal(init(m), 0);
	assert_true(data.foreign);
	perf_data_fini(&data);
	m = make(false);
	made_finish(m);
	memcpy(m->file.at, "PERFFILE", 8); /* perf before Linux 3.3 */
	assert_int_equal(perf_data_init(m->file.at, m->file.nr, "f", &data, &d), 0);
	assert_int_equal(data.nr_events, m->nr_events);
	perf_data_fini(&data);
	m = make(true);
	made_finish(m);
	for (unsigned i = 0; i < PERF_DATA_EVENTS_MAX; i++)
		put_record(&m->file, MADE_ATTR, 0, &m->attr[0], sizeof(m->attr[0]));
	assert_int_equal(perf_data_init(m->file.at, m->file.nr, "f", &data, &d), -E2BIG);
}

/* Files of other formats are told apart, with the command that opens them. */
static void packed_files_and_texts_are_named(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t at;
		const char *sentence;
	} files[] = {
		{ "a.data.gz", "\x1f\x8b", 0, "a.data.gz is compressed by gzip: `zcat a.data.gz | tailor import -o t.tlr -` imports it" },
		{ "b", "\xfd" "7zXZ", 0, "`xzcat b | tailor import" },
		{ "c.zst", "\x28\xb5\x2f\xfd", 0, "`zstdcat c.zst | tailor import" },
		{ "d.tgz", "\x1f\x8b", 0, "d.tgz is a tar archive: `tar xzOf d.tgz perf.data | tailor import -o t.tlr -`" },
		{ "perf.data.tar.bz2", "BZh9", 0, "`perf archive` packs" },
		{ "e.tar", "ustar", 257, "`tar xOf e.tar perf.data | tailor" },
		{ "-", "\x1f\x8b", 0, "standard input is compressed by gzip: unpack it first, as with `zcat`" },
		{ "g.trace", "SIMPLEPERF\0", 0, "`simpleperf report-sample` writes" },
		{ "h.tlr", "TLRC", 0, "h.tlr is a trace already: `tailor report h.tlr` reads it" },
		{ "i.txt", "planted 123 [001] 1.5: cpu-clock:\n\t401136 hot+0x6\n", 0, "i.txt is text, as `perf script`" },
		{ "j", "\1\2", 0, "j is not a perf.data file" },
		{ "k", "", 0, "k is not a perf.data file" },
	};
	unsigned char content[512];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const size_t nr = strlen(files[i].bytes);
		const bool whole = files[i].at || *files[i].bytes < ' ' || !strchr(files[i].bytes, '\n');

		memset(content, 0, sizeof(content));
		memcpy(content + files[i].at, files[i].bytes, nr);
		assert_int_equal(perf_data_init(content, whole ? sizeof(content) : nr, files[i].name, &data, &d), -EBADMSG);
		if (!strstr(d.text, files[i].sentence))
			fail_msg("%s: '%s'", files[i].name, d.text);
	}
}

/* The samples that are read, which must be those at 1000, 2000, ... in order. */
static int count_samples(void)
{
	struct perf_data_cursor c = { 0 };
	int nr = 0;

	while (perf_data_next_record(&data, &c, record) == 1)
		if (record->type == PERF_RECORD_SAMPLE)
			assert_int_equal(((uint64_t *)record)[2], 1000 * ++nr);
	perf_data_close_cursor(&c);
	return nr;
}

static void compressed_records_may_be_cut_anywhere(void **state)
{
	(void)state;
	for (size_t cut = 1; cut < 500; cut = cut < 40 ? cut + 1 : 2 * cut)
		for (int form = 0; form < 4; form++) {
			struct made *m = make(form & 1);

			for (uint64_t i = 1; i <= 50; i++)
				add_sample(m, 100, 1000 * i, i);
			made_pack(m, cut, form & 2);
			for (uint64_t i = 51; i <= 60; i++)
				add_sample(m, 100, 1000 * i, i); /* and as they are, behind */
			assert_int_equal(init(m), 0);
			assert_false(data.cut);
			assert_int_equal(data.nr_samples, 60);
			assert_int_equal(data.first_ns, 1);
			assert_int_equal(data.last_ns, 60);
			assert_int_equal(count_samples(), 60);
			assert_int_equal(count_samples(), 60);
			perf_data_fini(&data);
		}
}

static void what_compressed_records_say_of_the_file_is_not_believed(void **state)
{
	struct made *m = make(true);

	(void)state;
	put_record(&m->records, MADE_ATTR, 0, &m->attr[0], sizeof(m->attr[0]));
	MADE_WORDS(m, MADE_AUXTRACE, 0, 1 << 30, 0, 0, 0, 0);
	add_sample(m, 100, 1000, 10);
	made_pack(m, 4096, false);
	assert_int_equal(init(m), 0);
	assert_int_equal(data.nr_events, 1);
	assert_int_equal(data.aux_bytes, 0);
	assert_int_equal(count_samples(), 1);
	perf_data_fini(&data);
}

static void damage_of_compressed_records_ends_the_file(void **state)
{
	struct made *m = make(false);
	size_t whole;

	(void)state;
	MADE_WORDS(m, MADE_COMPRESSED, 0, 1, 2, 3); /* no zstd */
	assert_int_equal(init(m), 0);
	assert_true(data.cut);
	assert_int_equal(data.nr_samples, 0);
	perf_data_fini(&data);

	/* each byte in turn is another: what comes is what stood before it */
	m = make(false);
	for (uint64_t i = 1; i <= 50; i++)
		add_sample(m, 100, 1000 * i, i);
	made_pack(m, 100, false);
	whole = m->records.nr;
	for (size_t at = 0; at < whole; at++) {
		m->records.at[at] ^= 0x40;
		if (init(m) == 0) {
			struct perf_data_cursor c = { 0 };

			while (perf_data_next_record(&data, &c, record) == 1)
				;
			perf_data_close_cursor(&c);
			assert_true(c.at <= m->file.nr);
			perf_data_fini(&data);
		}
		m->records.at[at] ^= 0x40;
	}

	/* a size that reaches beyond the record */
	m = make(false);
	MADE_WORDS(m, MADE_COMPRESSED2, 0, 9, 0);
	add_sample(m, 100, 1000, 10);
	assert_int_equal(init(m), 0);
	assert_int_equal(count_samples(), 1);
	perf_data_fini(&data);

	/* 100 MB of records in 10 KB */
	m = make(false);
	for (int i = 0; i < 1000; i++)
		made_pack_same(m, 100000);
	assert_int_equal(init(m), 0);
	assert_true(data.cut);
	perf_data_fini(&data);
}

static void hardware_traces_are_stepped_over_and_counted(void **state)
{
	struct made *m = make(false);
	struct perf_data p;
	struct perf_data_cursor c = { 0 };

	(void)state;
	MADE_WORDS(m, MADE_AUXTRACE, 0, 24, 0, 0, 0, 0); /* how many bytes stand behind */
	put_zeros(&m->records, 24);
	add_sample(m, 100, 1, 10);
	assert_int_equal(init(m), 0);
	assert_int_equal(data.aux_bytes, 24);
	assert_int_equal(data.nr_samples, 1);
	assert_true(perf_data_next_record(&data, &c, record));
	assert_int_equal(record->type, MADE_AUXTRACE);
	assert_true(perf_data_next_record(&data, &c, record));
	assert_int_equal(record->type, PERF_RECORD_SAMPLE);
	perf_data_fini(&data);

	/* one that claims more than there is ends the file */
	m = make(false);
	add_sample(m, 100, 1, 10);
	MADE_WORDS(m, MADE_AUXTRACE, 0, UINT64_MAX - 8, 0, 0, 0, 0);
	assert_int_equal(init(m), 0);
	p = data;
	assert_true(p.cut);
	assert_int_equal(p.aux_bytes, 0);
	assert_int_equal(p.nr_samples, 1);
	perf_data_fini(&data);
}

static void a_file_that_is_cut_yields_what_stands_before(void **state)
{
	enum { NR = 20 };

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		struct made *m = make(pipe);
		uint64_t before = 0;

		put_text(made_feature(m, FEATURE_HOST), "host");
		put_build_id(made_feature(m, FEATURE_BUILD_ID), 7, 0xbb, "/usr/lib/b.so");
		for (uint64_t i = 0; i < NR; i++)
			add_sample(m, 100, i, i + 1);
		made_finish(m);
		for (size_t n = 0; n < m->file.nr; n++) {
			unsigned char *copy = guarded(m->file.at, n);

			if (perf_data_init(copy, n, "f", &data, &d) == 0) {
				assert_true(data.nr_samples >= before);
				before = data.nr_samples;
				/* a pipe ends where it likes, a file where it said, with its features behind */
				if (!pipe)
					assert_true(data.nr_samples == NR || data.cut);
				perf_data_fini(&data);
			}
			guarded_free(copy, n);
		}
		assert_int_equal(before, pipe ? NR - 1 : NR);
	}
}

/* perf was killed: the size of what it wrote stands nowhere. */
static void a_recording_that_was_killed_is_read(void **state)
{
	struct made *m = make(false);

	(void)state;
	add_sample(m, 100, 1, 10);
	made_finish(m);
	memset(m->file.at + 48, 0, 8);
	assert_int_equal(perf_data_init(m->file.at, m->file.nr, "f", &data, &d), 0);
	assert_true(data.cut);
	assert_int_equal(data.nr_samples, 1);
	perf_data_fini(&data);
}

/* Each of the header's words, and each feature's place, as any of the numbers that break things. */
static void sections_that_lie_are_not_followed(void **state)
{
	static const uint64_t bad[] = { 0, 1, 7, 8, 100, 104, 1000, UINT32_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 104 };
	struct made *m = make(false);
	size_t header = 104, features;

	(void)state;
	m->nr_events = 3;
	m->attr[1] = m->attr[2] = m->attr[0];
	m->name[0] = "cycles";
	put_build_id(made_feature(m, FEATURE_BUILD_ID), 7, 0xbb, "/usr/lib/b.so");
	put_u32(made_feature(m, FEATURE_COMMAND), UINT32_MAX);
	add_sample(m, 100, 1, 10);
	made_finish(m);
	features = m->file.nr;
	for (unsigned f = 0; f < 32; f++)
		features -= m->has[f] ? m->feature[f].nr : 0;
	for (size_t at = 8; at < features; at += 8) {
		uint64_t was;

		if (at >= header && at < features - 48 && at % 24) /* records and attrs are for the fuzzer */
			continue;
		memcpy(&was, m->file.at + at, 8);
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			unsigned char *copy = malloc(m->file.nr);
			struct perf_data_text word;
			struct perf_data_cursor next = { 0 };
			size_t word_at = 0;

			memcpy(m->file.at + at, &bad[i], 8);
			memcpy(copy, m->file.at, m->file.nr);
			if (perf_data_init(copy, m->file.nr, "f", &data, &d) == 0) {
				while (perf_data_next_record(&data, &next, record))
					;
				while (perf_data_next_command_word(&data, &word_at, &word))
					;
				perf_data_close_cursor(&next);
				assert_true(next.at <= m->file.nr && word_at <= m->file.nr);
				assert_true(data.ids.nr <= m->file.nr / 8);
				perf_data_fini(&data);
			}
			free(copy);
		}
		memcpy(m->file.at + at, &was, 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms_say_the_same),
		cmocka_unit_test(packed_files_and_texts_are_named),
		cmocka_unit_test(samples_of_several_events_are_told_apart_by_id),
		cmocka_unit_test(attrs_of_older_and_newer_perfs_are_read),
		cmocka_unit_test(what_cannot_be_read_is_refused_in_a_sentence),
		cmocka_unit_test(compressed_records_may_be_cut_anywhere),
		cmocka_unit_test(what_compressed_records_say_of_the_file_is_not_believed),
		cmocka_unit_test(damage_of_compressed_records_ends_the_file),
		cmocka_unit_test(hardware_traces_are_stepped_over_and_counted),
		cmocka_unit_test(a_file_that_is_cut_yields_what_stands_before),
		cmocka_unit_test(a_recording_that_was_killed_is_read),
		cmocka_unit_test(sections_that_lie_are_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
