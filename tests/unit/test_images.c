/* SPDX-License-Identifier: MIT */
/* images.c: which files end up in the trace, as mappings come, overlap, are inherited and vanish. */
#include "agent/recorder/images/elf_parts.h"
#include "agent/recorder/images/images.h"

#include "jitreg/trace/reader.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	struct name_source_recording recording;
	void *images;
	char a[64], b[64], c[64], trace[64]; /* a and c: copies of this program; b: of another */
	uint64_t now_ns; /* of what is mapped */
	char listed[4096];	      /* "path (reason)\n" of each image in the trace */
	char noticed[512];	      /* the last notice */
};

static void copy(char path[64], const char *from)
{
	char command[256];

	strcpy(path, "/tmp/test_images.XXXXXX");
	close(mkstemp(path));
	snprintf(command, sizeof(command), "cp %s %s", from, path);
	assert_int_equal(system(command), 0);
}

__attribute__((format(printf, 3, 4))) static void take_notice(void *recording, enum notice_kind kind, const char *format, ...)
{
	struct fixture *f = recording;
	va_list args;

	assert_int_equal(kind, NOTICE_LOSS);
	va_start(args, format);
	vsnprintf(f->noticed, sizeof(f->noticed), format, args);
	va_end(args);
}

static int setup(void **state)
{
	static const struct name_source_options options = { .stack_bytes = 1 };
	struct fixture *f = calloc(1, sizeof(*f));

	char self[64];

	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	copy(f->a, self);
	copy(f->c, self);
	copy(f->b, "/bin/sh");
	strcpy(f->trace, "/tmp/test_images.XXXXXX");
	close(mkstemp(f->trace));
	f->recording.options = &options;
	f->recording.recording = f;
	f->recording.notice = take_notice;
	assert_int_equal(images_source.create(&f->recording, &f->images), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	images_source.destroy(f->images);
	unlink(f->a);
	unlink(f->b);
	unlink(f->c);
	unlink(f->trace);
	free(f);
	return 0;
}

static void map(struct fixture *f, uint32_t pid, uint64_t start, uint64_t end, const char *path)
{
	images_source.note_mapping(
		f->images,
		&(struct mapping){ .pid = pid, .address = start, .bytes = end - start, .path = path, .path_bytes = strlen(path) },
		f->now_ns);
}

static void note_exec(struct fixture *f, uint32_t pid, uint64_t time_ns)
{
	images_source.note_exec(f->images, &(struct kernel_comm){ .pid = pid, .tid = pid, .exec = true }, time_ns);
}

static void sample(struct fixture *f, uint32_t pid, uint64_t ip)
{
	struct sample_seen seen = { .pid = pid, .tid = pid, .ip = ip, .user_ip = ip, .user = true };

	images_source.note_sample(f->images, &seen);
}

static const char *list(struct fixture *f)
{
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_record record;
	struct diag d;

	assert_int_equal(trace_writer_open(f->trace, true, &w, &d), 0);
	TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
	trace_writer_flush_all(w);
	f->recording.writer = w;
	images_source.write_files(f->images, 1, true);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(f->trace, &r, &d), 0);
	f->listed[0] = 0;
	while (trace_next(r, &record) == 1)
		if (record.id == TRACE_IMAGE_FILE) {
			char *path = trace_text(&record, F(image_file, path)), *reason = trace_text(&record, F(image_file, reason));
			size_t at = strlen(f->listed);

			snprintf(f->listed + at, sizeof(f->listed) - at, "%s (%s)\n", path, reason);
			free(path);
			free(reason);
		}
	trace_close(r);
	return f->listed;
}

static void text_in_large_pages_is_its_images(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x5000, f->a);
	map(f, 1, 0x6000, 0x7000, f->b);
	map(f, 1, 0x2000, 0x8000, "//anon"); /* over a part of one, all of the other, and what was free */
	sample(f, 1, 0x2010);
	sample(f, 1, 0x7010);
	assert_non_null(strstr(list(f), f->a));
	assert_null(strstr(f->listed, f->b));
}

static void images_are_kept_when_a_sample_hits_them(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x2000, f->a);
	map(f, 1, 0x3000, 0x4000, f->b);
	sample(f, 1, 0x3fff);
	sample(f, 1, 0x2fff);
	sample(f, 1, 0x4000);
	sample(f, 2, 0x1000);
	assert_non_null(strstr(list(f), f->b));
	assert_null(strstr(f->listed, f->a));
}

/* The line of a path among those that are listed; NULL: there is none. */
static const char *listed(const struct fixture *f, const char *path, const char *reason)
{
	char line[512];

	snprintf(line, sizeof(line), "%s (%s)\n", path, reason);
	return strstr(f->listed, line);
}

static int count_listed(const struct fixture *f)
{
	int nr = 0;

	for (const char *at = f->listed; (at = strchr(at, '\n')); at++)
		nr++;
	return nr;
}

/* a and c have one build id: the trace says so of each path, and has the parts with the first. */
static void copies_of_a_file_have_a_record_each_and_parts_once(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x2000, f->a);
	map(f, 2, 0x1000, 0x2000, f->c);
	sample(f, 1, 0x1000);
	sample(f, 2, 0x1000);
	list(f);
	assert_int_equal(count_listed(f), 2);
	assert_true((listed(f, f->a, "") && listed(f, f->c, TRACE_COPY)) || (listed(f, f->c, "") && listed(f, f->a, TRACE_COPY)));
}

static void copies_of_a_file_that_was_written_early_have_a_record(void **state)
{
	struct fixture *f = *state;
	struct trace_writer *w;
	struct diag d;

	map(f, 1, 0x1000, 0x2000, f->a);
	map(f, 2, 0x1000, 0x2000, f->c);
	sample(f, 1, 0x1000);
	assert_int_equal(trace_writer_open(f->trace, true, &w, &d), 0);
	f->recording.writer = w;
	images_source.write_files(f->images, 1, false);
	assert_int_equal(trace_writer_close(w), 0);
	sample(f, 2, 0x1000);
	list(f); /* what comes behind those that were early */
	assert_int_equal(count_listed(f), 1);
	assert_non_null(listed(f, f->c, TRACE_COPY));
}

static struct elf_parts build_id_of(const char *path)
{
	struct elf_parts parts;
	int fd = open(path, O_RDONLY);

	assert_int_equal(elf_parts_read_build_id(fd, &parts), 0);
	assert_true(parts.build_id_bytes > 0);
	close(fd);
	return parts;
}

static void map_with_build_id(struct fixture *f, uint32_t pid, uint64_t start, const char *path, const struct elf_parts *id, bool by_guest)
{
	images_source.note_mapping(f->images,
			   &(struct mapping){ .pid = pid,
					      .address = start,
					      .bytes = 0x1000,
					      .path = path,
					      .path_bytes = strlen(path),
					      .build_id = id->build_id,
					      .build_id_bytes = id->build_id_bytes,
					      .by_guest = by_guest },
			   0);
}

/* Two containers' copies that have been stripped differently: their code is the same, and their tables lie elsewhere. */
static void files_of_one_build_id_and_two_sizes_have_parts_each(void **state)
{
	struct fixture *f = *state;
	char command[128];

	snprintf(command, sizeof(command), "strip %s", f->c);
	assert_int_equal(system(command), 0);
	map(f, 1, 0x1000, 0x2000, f->a);
	map(f, 2, 0x1000, 0x2000, f->c);
	sample(f, 1, 0x1000);
	sample(f, 2, 0x1000);
	list(f);
	assert_int_equal(count_listed(f), 2);
	assert_non_null(listed(f, f->a, ""));
	assert_non_null(listed(f, f->c, ""));
}

/* The loader's path, which leads to the file by a link, is no other file's. */
static void a_guests_link_to_a_file_has_no_record(void **state)
{
	struct fixture *f = *state;
	struct elf_parts id = build_id_of(f->a);
	char link[80];

	snprintf(link, sizeof(link), "%s.link", f->a);
	assert_int_equal(symlink(f->a, link), 0);
	map_with_build_id(f, 1, 0x1000, f->a, &id, false);
	sample(f, 1, 0x1000);
	map_with_build_id(f, 1, 0x1000, link, &id, true); /* in the same place */
	sample(f, 1, 0x1100);
	map_with_build_id(f, 1, 0x9000, link, &id, true); /* where the kernel's mapping has not been seen */
	sample(f, 1, 0x9000);
	list(f);
	unlink(link);
	elf_parts_free(&id);
	assert_int_equal(count_listed(f), 1);
	assert_non_null(listed(f, f->a, ""));
}

static void images_found_on_the_stack_are_kept(void **state)
{
	struct fixture *f = *state;
	unsigned char stack[64] = { 0 };
	uint64_t address = 0x3456;
	struct sample_seen seen = { .pid = 1, .tid = 1, .ip = 0x9000, .user_ip = 0x9000, .user = true,
				    .words = stack, .nr_words = sizeof(stack) / 8 };

	memcpy(stack + 24, &address, 8);
	map(f, 1, 0x1000, 0x2000, f->a);
	map(f, 1, 0x3000, 0x4000, f->b);
	images_source.note_sample(f->images, &seen);
	assert_non_null(strstr(list(f), f->b));
	assert_null(strstr(f->listed, f->a));
}

static void a_sample_before_its_mapping_is_looked_up_again(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, 0x1800);
	images_source.settle(f->images, 0, false);
	map(f, 1, 0x1000, 0x2000, f->a);
	images_source.settle(f->images, 0, false);
	assert_non_null(strstr(list(f), f->a));
}

static void a_new_mapping_replaces_what_it_overlaps(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x9000, f->a);
	map(f, 1, 0x3000, 0x5000, f->b);
	sample(f, 1, 0x3000);
	sample(f, 1, 0x4fff);
	assert_null(strstr(list(f), f->a));
	assert_non_null(strstr(f->listed, f->b));
	map(f, 1, 0x5000, 0x6000, "/memfd:jit");
	sample(f, 1, 0x5000);
	assert_string_equal(list(f), "");
	sample(f, 1, 0x6000); /* what is left behind them */
	assert_non_null(strstr(list(f), f->a));
}

static void a_child_inherits_and_exec_forgets(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x2000, f->a);
	images_source.note_fork(f->images, 1, 2, 1);
	note_exec(f, 1, 1);
	sample(f, 1, 0x1000);
	images_source.settle(f->images, 0, false);
	assert_string_equal(list(f), "");
	sample(f, 2, 0x1000);
	assert_non_null(strstr(list(f), f->a));
}

/* Rings of processors are drained one after the other: a program that ran on another one may be known before its exec. */
static void a_new_program_keeps_what_it_has_mapped_since_its_exec(void **state)
{
	struct fixture *f = *state;

	f->now_ns = 10;
	map(f, 1, 0x1000, 0x2000, f->a);
	f->now_ns = 30;
	map(f, 1, 0x3000, 0x4000, f->b);
	note_exec(f, 1, 20);
	f->now_ns = 15; /* and what the old one had mapped comes last */
	map(f, 1, 0x5000, 0x6000, f->c);
	sample(f, 1, 0x1000);
	sample(f, 1, 0x5000);
	assert_string_equal(list(f), "");
	sample(f, 1, 0x3000);
	assert_non_null(strstr(list(f), f->b));
}

static void a_number_used_again_is_another_process(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x3000, 0x4000, f->b);
	map(f, 2, 0x1000, 0x2000, f->a);
	images_source.note_exit(f->images, 2, 1);
	images_source.note_fork(f->images, 1, 2, 2);
	sample(f, 2, 0x1000);
	assert_string_equal(list(f), "");
	sample(f, 2, 0x3000);
	assert_non_null(strstr(list(f), f->b));
}

/* The child ran on another processor than its parent, whose ring is drained later. */
static void a_child_whose_end_is_known_before_its_begin_has_its_parents_mappings(void **state)
{
	struct fixture *f = *state;

	map(f, 1, 0x1000, 0x2000, f->a);
	sample(f, 2, 0x1000);
	images_source.note_exit(f->images, 2, 2);
	images_source.note_fork(f->images, 1, 2, 1);
	images_source.settle(f->images, 0, false);
	assert_non_null(strstr(list(f), f->a));
}

/* They are remembered until all rings have been drained, by the thousand where a build runs. */
static void short_processes_take_little_memory_after_their_end(void **state)
{
	struct fixture *f = *state;
	const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	const uint32_t nr = 5000;

	for (uint32_t pid = 10; pid < 10 + nr; pid++) {
		map(f, pid, 0x1000, 0x9000, f->a);
		sample(f, pid, 0x2000);
		images_source.note_exit(f->images, pid, 1);
		sample(f, pid, 0x3000); /* from another ring */
	}
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd - before < nr * 1024);
}

static void files_that_were_replaced_or_cannot_be_read_have_a_reason(void **state)
{
	static const unsigned char other[20] = { 1, 2, 3 };
	struct fixture *f = *state;

	images_source.note_mapping(
		f->images,
		&(struct mapping){ .pid = 1,
				   .address = 0x1000,
				   .bytes = 0x1000,
				   .path = f->a,
				   .path_bytes = strlen(f->a),
				   .build_id = other,
				   .build_id_bytes = sizeof(other) },
		0);
	map(f, 1, 0x3000, 0x4000, "/nonexistent/lib.so");
	map(f, 1, 0x5000, 0x6000, "/etc/passwd");
	map(f, 1, 0x7000, 0x8000, "/etc/passwd (deleted)");
	for (uint64_t ip = 0x1000; ip < 0x9000; ip += 0x1000)
		sample(f, 1, ip);
	list(f);
	assert_non_null(strstr(f->listed, "(the file at its path is not the one that was mapped)"));
	assert_non_null(strstr(f->listed, "/nonexistent/lib.so (No such file or directory)"));
	assert_non_null(strstr(f->listed, "/etc/passwd (not an ELF file)"));
	assert_non_null(strstr(f->listed, "/etc/passwd (deleted) (No such file or directory)"));
}

/* To open a device may do something, and a FIFO answers who waits: here one that came to the path of a mapped file. */
static void what_is_no_regular_file_is_not_opened(void **state)
{
	struct fixture *f = *state;
	struct inotify_event event;
	int opened = inotify_init1(IN_NONBLOCK);
	uint32_t pid = (uint32_t)getpid();

	unlink(f->a);
	assert_int_equal(mkfifo(f->a, 0600), 0);
	assert_true(inotify_add_watch(opened, f->a, IN_OPEN) >= 0);
	map(f, pid, 0x1000, 0x2000, f->a);
	sample(f, pid, 0x1000);
	assert_non_null(strstr(list(f), "(No such file or directory)"));
	assert_int_equal(read(opened, &event, sizeof(event)), -1);
	close(opened);
}

static void map_file(struct fixture *f, uint64_t address, const char *path, uint64_t inode)
{
	images_source.note_mapping(f->images,
			   &(struct mapping){ .pid = (uint32_t)getpid(),
					      .address = address,
					      .bytes = 0x1000,
					      .path = path,
					      .path_bytes = strlen(path),
					      .file = { 1, inode, 1 } },
			   0);
}

/* Maps the file a, and puts another one at its path. */
static char *map_and_replace(struct fixture *f, size_t bytes)
{
	int fd = open(f->a, O_RDONLY);
	char *code = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	char command[256];

	assert_ptr_not_equal(code, MAP_FAILED);
	close(fd);
	snprintf(command, sizeof(command), "head -c 20000 /dev/urandom >%s.new && mv %s.new %s", f->a, f->a, f->a);
	assert_int_equal(system(command), 0);
	return code;
}

/* Without a build id: the path's file now is not the one whose code this process has there.  The mapping is longer than is told, so it has
 * no entry in map_files by which its file could be opened. */
static void a_file_that_replaced_the_mapped_one_is_not_read(void **state)
{
	struct fixture *f = *state;
	char *code = map_and_replace(f, 0x2000);

	map_file(f, (uintptr_t)code, f->a, 7);
	sample(f, (uint32_t)getpid(), (uintptr_t)code);
	assert_non_null(strstr(list(f), "(the file at its path is not the one that was mapped)"));
	munmap(code, 0x2000);
}

static void a_mapped_file_is_read_that_another_one_replaced(void **state)
{
	struct fixture *f = *state;
	char *code = map_and_replace(f, 0x1000), path[64];
	bool allowed;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (long)code, (long)code + 0x1000);
	allowed = access(path, R_OK) == 0;
	map_file(f, (uintptr_t)code, f->a, 7);
	sample(f, (uint32_t)getpid(), (uintptr_t)code);
	list(f);
	if (allowed)
		assert_non_null(listed(f, f->a, ""));
	munmap(code, 0x1000);
	if (!allowed)
		skip();
}

static void a_file_that_was_overwritten_after_its_first_sample_is_not_read(void **state)
{
	struct fixture *f = *state;
	char command[256];

	map(f, (uint32_t)getpid(), 0x1000, 0x2000, f->c);
	sample(f, (uint32_t)getpid(), 0x1000);
	snprintf(command, sizeof(command), "cat /bin/sh >%s", f->c);
	assert_int_equal(system(command), 0);
	assert_non_null(strstr(list(f), "(it was overwritten while it was mapped)"));
	assert_non_null(strstr(f->noticed, f->c));
	assert_non_null(strstr(f->noticed, "was overwritten"));
}

static void files_of_one_path_are_told_apart_by_their_inodes(void **state)
{
	struct fixture *f = *state;
	const char *first;

	map_file(f, 0x10000, f->c, 7);
	sample(f, (uint32_t)getpid(), 0x10000);
	map_file(f, 0x10000, f->c, 8);
	map_file(f, 0x10000, f->c, 0); /* the guest's: it knows the path only */
	sample(f, (uint32_t)getpid(), 0x10000);
	first = strstr(list(f), f->c);
	assert_non_null(first);
	/* a build id says that they are copies, so the parts of one are written */
	assert_non_null(listed(f, f->c, ""));
	assert_non_null(listed(f, f->c, TRACE_COPY));
	assert_int_equal(count_listed(f), 2);
}

/* A process that runs already is known by its files' inodes, and one that starts by their build ids: two containers have two files at one
 * path, and the later one is not taken for the earlier. */
static void files_of_one_path_are_told_apart_where_one_has_its_build_id_told(void **state)
{
	struct fixture *f = *state;
	struct elf_parts id;

	map_file(f, 0x10000, f->c, 7);
	sample(f, (uint32_t)getpid(), 0x10000);
	assert_int_equal(rename(f->b, f->c), 0); /* what the other process sees there */
	id = build_id_of(f->c);
	map_with_build_id(f, 2, 0x10000, f->c, &id, false);
	sample(f, 2, 0x10000);
	elf_parts_free(&id);
	list(f);
	assert_int_equal(count_listed(f), 2);
	assert_null(listed(f, f->c, "the file at its path is not the one that was mapped"));
}

static void memory_without_a_file_is_no_image(void **state)
{
	static const char *const paths[] = { "//anon", "[heap]", "[stack]", "", "/memfd:jit (deleted)", "/dev/zero",
					     "/SYSV00000000 (deleted)" };
	struct fixture *f = *state;

	for (uint64_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		map(f, 1, (i + 1) << 16, ((i + 1) << 16) + 0x1000, paths[i]);
		sample(f, 1, (i + 1) << 16);
	}
	assert_string_equal(list(f), "");
}

/* ----------------------------------------------------------------------------------------------------------- their code */

static volatile unsigned sink;

__attribute__((noinline, used, aligned(64))) static void often(void)
{
	sink = sink * 3 + 1;
}

__attribute__((noinline, used, aligned(64))) static void seldom(void)
{
	sink = sink * 5 + 1;
}

__attribute__((noinline, used, aligned(64))) static void once(void)
{
	sink = sink * 7 + 1;
}

struct place {
	const void *function;
	uint64_t address, offset; /* the file's own, and in the file */
};

static int find_place(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct place *p = context;

	(void)bytes;
	p->address = (uint64_t)(uintptr_t)p->function - info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[i];

		if (s->p_type == PT_LOAD && p->address >= s->p_vaddr && p->address - s->p_vaddr < s->p_filesz)
			p->offset = p->address - s->p_vaddr + s->p_offset;
	}
	return 1; /* the program itself comes first */
}

static struct place place_of(void (*function)(void))
{
	struct place p = { .function = (const void *)(uintptr_t)function };

	dl_iterate_phdr(find_place, &p);
	return p;
}

#define BASE 0x10000000u /* where the file is mapped as a whole */

static void sample_functions(struct fixture *f)
{
	map(f, 1, BASE, BASE + (64u << 20), f->a);
	map(f, 2, 2 * BASE, 2 * BASE + (64u << 20), f->a);
	for (int i = 0; i < 5; i++)
		sample(f, 1, BASE + place_of(often).offset);
	sample(f, 1, BASE + place_of(seldom).offset);
	sample(f, 2, 2 * BASE + place_of(seldom).offset); /* in another process */
	sample(f, 1, BASE + place_of(once).offset);
}

/* How many functions' code the trace has; of p's, whether it is what is in memory. */
static unsigned code_in(struct fixture *f, const struct place *p, bool *found)
{
	struct trace_reader *r;
	struct trace_record record;
	struct diag d;
	unsigned nr = 0;

	list(f);
	*found = false;
	assert_int_equal(trace_open(f->trace, &r, &d), 0);
	while (trace_next(r, &record) == 1) {
		const struct trace_value *functions = &record.values[F(image_code, functions)];

		if (record.id != TRACE_IMAGE_CODE)
			continue;
		for (uint64_t i = 0; i < functions->u; i++, nr++) {
			struct trace_value at = trace_element(functions, i, 0), code = trace_element(functions, i, 1);

			if (at.u == p->address) {
				assert_memory_equal(code.p, p->function, code.bytes);
				*found = true;
			}
		}
	}
	trace_close(r);
	return nr;
}

static void code_of_functions_with_two_samples_is_kept(void **state)
{
	struct fixture *f = *state;
	struct place p = place_of(seldom);
	bool found;

	assert_int_equal(images_keep_code(f->images, 1 << 20), 0);
	sample_functions(f);
	assert_int_equal(code_in(f, &p, &found), 2);
	assert_true(found);
}

static void code_of_a_file_that_was_written_early_is_kept(void **state)
{
	struct fixture *f = *state;
	struct place p = place_of(often);
	struct trace_writer *w;
	struct diag d;
	bool found;

	assert_int_equal(images_keep_code(f->images, 1 << 20), 0);
	sample_functions(f);
	assert_int_equal(trace_writer_open(f->trace, true, &w, &d), 0);
	f->recording.writer = w;
	images_source.write_files(f->images, 1, false);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(code_in(f, &p, &found), 2);
	assert_true(found);
}

/* By this program's own symbol table, which the recorder reads. */
static uint64_t place_bytes(const struct place *p)
{
	struct elf_parts parts;
	uint64_t bytes = 0;
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(elf_parts_read(fd, false, &parts), 0);
	close(fd);
	for (uint32_t i = 0; i < parts.nr && !bytes; i++)
		for (size_t at = 0; at + sizeof(Elf64_Sym) <= parts.part[i].nr && !bytes; at += sizeof(Elf64_Sym)) {
			const Elf64_Sym *s = (const Elf64_Sym *)((const char *)parts.part[i].bytes + at);

			if (s->st_value == p->address && s->st_size < 4096)
				bytes = s->st_size;
		}
	elf_parts_free(&parts);
	return bytes;
}

static void the_limit_of_bytes_keeps_the_hottest(void **state)
{
	struct fixture *f = *state;
	struct place p = place_of(often);
	bool found;

	/* each is the same but for a factor: the limit has room for one */
	assert_int_equal(images_keep_code(f->images, place_bytes(&p) * 3 / 2), 0);
	sample_functions(f);
	assert_int_equal(code_in(f, &p, &found), 1);
	assert_true(found);
}

static void no_code_is_kept_unless_wanted(void **state)
{
	struct fixture *f = *state;
	struct place p = place_of(often);
	bool found;

	assert_int_equal(images_keep_code(f->images, 0), 0);
	sample_functions(f);
	assert_int_equal(code_in(f, &p, &found), 0);
}

static int open_files(void)
{
	int nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* They are for agents and rings: a file is closed after a look, and opened again when it is written. */
static void few_descriptors_are_not_used_up_by_images(void **state)
{
	struct fixture *f = *state;
	struct place p = place_of(often);
	struct rlimit limit, few;
	char wanted[128];
	bool found;
	int before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ 64, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	images_source.destroy(f->images);
	assert_int_equal(images_source.create(&f->recording, &f->images), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(images_keep_code(f->images, 1 << 20), 0);
	before = open_files();
	map(f, 3, 0x1000, 0x2000, f->b);
	sample(f, 3, 0x1000);
	sample_functions(f);
	assert_int_equal(open_files(), before);
	assert_int_equal(rename(f->c, f->b), 0); /* another file is there now */
	assert_int_equal(code_in(f, &p, &found), 2);
	assert_true(found);
	snprintf(wanted, sizeof(wanted), "%s (the file at its path is not the one that was mapped)\n", f->b);
	assert_non_null(strstr(f->listed, wanted));
	snprintf(wanted, sizeof(wanted), "%s ()\n", f->a);
	assert_non_null(strstr(f->listed, wanted));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(images_are_kept_when_a_sample_hits_them, setup, teardown),
		cmocka_unit_test_setup_teardown(text_in_large_pages_is_its_images, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_of_a_file_have_a_record_each_and_parts_once, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_of_a_file_that_was_written_early_have_a_record, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_one_build_id_and_two_sizes_have_parts_each, setup, teardown),
		cmocka_unit_test_setup_teardown(a_guests_link_to_a_file_has_no_record, setup, teardown),
		cmocka_unit_test_setup_teardown(short_processes_take_little_memory_after_their_end, setup, teardown),
		cmocka_unit_test_setup_teardown(images_found_on_the_stack_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sample_before_its_mapping_is_looked_up_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_mapping_replaces_what_it_overlaps, setup, teardown),
		cmocka_unit_test_setup_teardown(a_child_inherits_and_exec_forgets, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_program_keeps_what_it_has_mapped_since_its_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(a_number_used_again_is_another_process, setup, teardown),
		cmocka_unit_test_setup_teardown(a_child_whose_end_is_known_before_its_begin_has_its_parents_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(files_that_were_replaced_or_cannot_be_read_have_a_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_not_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_replaced_the_mapped_one_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mapped_file_is_read_that_another_one_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_was_overwritten_after_its_first_sample_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_one_path_are_told_apart_by_their_inodes, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_one_path_are_told_apart_where_one_has_its_build_id_told, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_without_a_file_is_no_image, setup, teardown),
		cmocka_unit_test_setup_teardown(code_of_functions_with_two_samples_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(code_of_a_file_that_was_written_early_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(the_limit_of_bytes_keeps_the_hottest, setup, teardown),
		cmocka_unit_test_setup_teardown(no_code_is_kept_unless_wanted, setup, teardown),
		cmocka_unit_test_setup_teardown(few_descriptors_are_not_used_up_by_images, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
