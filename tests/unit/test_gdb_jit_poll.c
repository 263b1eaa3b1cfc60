/* SPDX-License-Identifier: MIT */
/* Lists of the GDB JIT interface, read from a child process that makes them, honest and hostile. */
#include "tests/unit/unit.h"

#include "agent/recorder/jit_files/gdb_jit_poll.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct entry {
	struct entry *next, *prev;
	const void *symfile;
	uint64_t bytes;
};

/* In this program's symbol table, not exported: found in its file. */
struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = { 1, 0, NULL, NULL };

static union {
	Elf64_Ehdr header;
	unsigned char bytes[256];
} elf = { .header = { .e_ident = ELFMAG "\2\1\1" } };
static const unsigned char no_elf[256] = "not an ELF file";
static struct entry entries[6];

/* Only one is used at a time. */
static void *create_poll(struct trace_writer *w)
{
	static const struct name_source_options options;
	static struct name_source_recording recording;
	void *o;

	recording = (struct name_source_recording){ .options = &options, .writer = w };
	assert_int_equal(gdb_jit_poll_source.create(&recording, &o), 0);
	return o;
}

static void note_mapping(void *o, pid_t pid, const char *path)
{
	const struct mapping m = { .pid = (uint32_t)pid, .address = 0x10000, .bytes = 4096, .prot = PROT_READ | PROT_EXEC, .path = path,
				   .path_bytes = strlen(path) };

	gdb_jit_poll_source.note_mapping(o, &m, 1);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void link_up(int nr)
{
	for (int i = 0; i < nr; i++) {
		entries[i].next = i + 1 < nr ? &entries[i + 1] : NULL;
		entries[i].symfile = &elf;
		entries[i].bytes = sizeof(elf);
	}
	__jit_debug_descriptor.first = nr ? &entries[0] : NULL;
	__jit_debug_descriptor.relevant = NULL;
	__jit_debug_descriptor.action = 0;
	__jit_debug_descriptor.version = 1;
}

/* found and bad after an attach and some looks at a child that has the lists of this moment */
static void look(uint64_t found, uint64_t bad)
{
	char path[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w;
	void *o;
	struct diag d;
	pid_t pid = child();

	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	o = create_poll(w);
	assert_int_equal(gdb_jit_poll_add_process(o, pid), 0);
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 1000000000), 10);
	for (uint64_t n = 1; n < 10; n++)
		gdb_jit_poll_source.poll(o, n * 2000000000u);
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 18000000000u), 50); /* nothing was new for 10 s */
	assert_int_equal(gdb_jit_poll_nr_elfs_found(o), found);
	assert_int_equal(gdb_jit_poll_nr_bad_entries(o), bad);
	end(pid);
	gdb_jit_poll_source.poll(o, 30000000000u); /* it has gone: nothing happens */
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 30000000000u), 0);
	gdb_jit_poll_source.destroy(o);
	trace_writer_close(w);
	unlink(path);
}

static void finds_what_is_registered_once(void **state)
{
	(void)state;
	link_up(3);
	look(3, 0);
	__jit_debug_descriptor.action = 1;
	__jit_debug_descriptor.relevant = &entries[4]; /* not in the list */
	entries[4] = (struct entry){ NULL, NULL, &elf, sizeof(elf) };
	look(4, 0);
}

static void survives_lists_that_make_no_sense(void **state)
{
	(void)state;
	link_up(3);
	entries[2].next = &entries[0]; /* a ring */
	look(3, 0);
	link_up(3);
	entries[1].next = (struct entry *)(uintptr_t)0x1234567890ull; /* nowhere */
	look(2, 0);
	link_up(1);
	__jit_debug_descriptor.version = 7;
	look(0, 0);
	link_up(6);
	entries[0].symfile = NULL;
	entries[1].bytes = UINT64_MAX;
	entries[2].bytes = 3;
	entries[3].symfile = no_elf;
	entries[4].symfile = (void *)(uintptr_t)0xfffffffffffff000ull;
	look(1, 5);
	link_up(0);
	look(0, 0);
}

#define MANY 300000

/* Reads them in portions, of which none is all of it, and no more of them than come, once they are known. */
static void look_at_many(struct entry *many, int nr)
{
	char path[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w;
	void *o;
	struct diag d;
	uint64_t read, now_ns = 1000000000;
	pid_t pid;

	for (int i = 0; i < nr; i++)
		many[i] = (struct entry){ i + 1 < nr ? &many[i + 1] : NULL, i ? &many[i - 1] : NULL, &elf, sizeof(elf) };
	__jit_debug_descriptor.version = 1;
	__jit_debug_descriptor.action = 0;
	__jit_debug_descriptor.relevant = NULL;
	__jit_debug_descriptor.first = many;
	pid = child();
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	o = create_poll(w);
	assert_int_equal(gdb_jit_poll_add_process(o, pid), 0);
	assert_true(gdb_jit_poll_nr_elfs_found(o) < MANY / 10);
	for (int n = 0; n < 10; n++) { /* within a second no walk begins anew */
		read = gdb_jit_poll_nr_entries_read(o);
		gdb_jit_poll_source.poll(o, now_ns += 1000000);
		assert_true(gdb_jit_poll_nr_entries_read(o) - read < MANY / 10);
	}
	for (int n = 0; n < 100; n++) /* a second each */
		if (gdb_jit_poll_finish_walks(o))
			break;
	assert_int_equal(gdb_jit_poll_nr_elfs_found(o), nr);
	read = gdb_jit_poll_nr_entries_read(o);
	gdb_jit_poll_source.poll(o, 2000000);
	assert_true(gdb_jit_poll_nr_entries_read(o) - read < MANY / 10);
	for (int n = 0; n < 100; n++) /* whole walks find nothing new */
		gdb_jit_poll_source.poll(o, now_ns += 2000000000);
	assert_int_equal(gdb_jit_poll_nr_elfs_found(o), nr);
	assert_int_equal(gdb_jit_poll_nr_bad_entries(o), 0);
	assert_int_equal(gdb_jit_poll_nr_processes_cut(o), 0);
	end(pid);
	gdb_jit_poll_source.destroy(o);
	trace_writer_close(w);
	unlink(path);
}

static void a_long_list_is_read_in_portions(void **state)
{
	struct entry *many = calloc(MANY, sizeof(*many));

	(void)state;
	assert_non_null(many);
	look_at_many(many, MANY);
	free(many);
}

/* A ring ends where it leads back: a walk over it is no longer than the ring. */
static void a_ring_is_walked_around_once(void **state)
{
	char path[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w;
	void *o;
	struct diag d;
	pid_t pid;

	(void)state;
	link_up(6);
	entries[5].next = &entries[2];
	pid = child();
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	o = create_poll(w);
	assert_int_equal(gdb_jit_poll_add_process(o, pid), 0);
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 1000000000), 10);
	for (uint64_t n = 1; n < 10; n++)
		gdb_jit_poll_source.poll(o, n * 2000000000u);
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 18000000000u), 50); /* nothing was new for 10 s */
	assert_int_equal(gdb_jit_poll_nr_elfs_found(o), 6);
	assert_true(gdb_jit_poll_nr_entries_read(o) <= 10 * (6 + 1));
	end(pid);
	gdb_jit_poll_source.destroy(o);
	trace_writer_close(w);
	unlink(path);
}

#define RING 5000
#define ELF_BYTES_MAX (48u << 20)

/* Entries that say how large they are until no more is copied: they are not remembered, and the ring ends all the same; nor is it walked
 * again. */
static void a_ring_beyond_the_limit_of_bytes_ends(void **state)
{
	static struct entry ring[RING];
	char path[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w;
	void *o;
	struct diag d;
	uint64_t read;
	pid_t pid;

	(void)state;
	link_up(0);
	for (int i = 0; i < RING; i++)
		ring[i] = (struct entry){ &ring[(i + 1) % RING], &ring[(i + RING - 1) % RING], &elf, ELF_BYTES_MAX };
	__jit_debug_descriptor.first = ring;
	pid = child();
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	o = create_poll(w);
	assert_int_equal(gdb_jit_poll_add_process(o, pid), 0);
	for (uint64_t n = 1; n < 1000; n++)
		gdb_jit_poll_source.poll(o, n * 100000000u);
	read = gdb_jit_poll_nr_entries_read(o);
	assert_true(read <= 10 * RING);
	assert_int_equal(gdb_jit_poll_nr_processes_cut(o), 1);
	end(pid);
	gdb_jit_poll_source.destroy(o);
	trace_writer_close(w);
	unlink(path);
}

/* Of the recorder's own clock, until all is found; at most 40 s, in steps of 10 ms. */
static uint64_t found_after(void *o, uint64_t from_ns, uint64_t nr)
{
	uint64_t now_ns = from_ns;

	while (gdb_jit_poll_nr_elfs_found(o) < nr && now_ns - from_ns < 40000000000u)
		gdb_jit_poll_source.poll(o, now_ns += 10000000);
	return now_ns - from_ns;
}

/* A process that runs for long before it generates code (a Python that imports). */
static void a_hidden_list_is_found_soon_after_code_is_mapped(void **state)
{
	char path[] = "/tmp/tailor-test-XXXXXX", byte = 0;
	int go[2], done[2];
	struct trace_writer *w;
	void *o;
	struct diag d;
	pid_t pid;

	(void)state;
	link_up(0);
	assert_int_equal(pipe(go) | pipe(done), 0);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &byte, 1) == 1 &&
		    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
			entries[0] = (struct entry){ NULL, NULL, &elf, sizeof(elf) };
			__jit_debug_descriptor.first = &entries[0];
			(void)!write(done[1], &byte, 1);
		}
		for (;;)
			pause();
	}
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	o = create_poll(w);
	gdb_jit_poll_source.note_agent(o, (uint32_t)pid); /* which looks for no symbol */
	for (uint64_t now_ns = 1; now_ns < 20000000000u; now_ns += 10000000)
		gdb_jit_poll_source.poll(o, now_ns);
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	note_mapping(o, pid, "//anon");
	/* 100 ms; a search that took long before is not repeated at once */
	assert_true(found_after(o, 20000000000u, 1) <= 2000000000u);
	assert_int_equal(gdb_jit_poll_nr_elfs_found(o), 1);
	end(pid);
	gdb_jit_poll_source.destroy(o);
	trace_writer_close(w);
	unlink(path);
	close(go[0]), close(go[1]), close(done[0]), close(done[1]);
}

static int is_of_cat(void *context, const struct proc_mapping *m)
{
	(void)context;
	return strstr(m->path, "/cat") != NULL;
}

static void who_has_no_list_is_not_polled_for_one(void **state)
{
	char path[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w;
	void *o;
	struct diag d;
	int piped[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(piped), 0);
	pid = fork();
	if (pid == 0) {
		dup2(piped[0], 0);
		close(piped[1]);
		_exit(execl("/bin/cat", "cat", NULL));
	}
	while (proc_each_mapping(pid, is_of_cat, NULL) != 1) /* until it is that program */
		usleep(1000);
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	o = create_poll(w);
	assert_int_equal(gdb_jit_poll_add_process(o, pid), 0);
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 0), 0);
	note_mapping(o, pid, "/lib/x.so"); /* a library, which may have one */
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 0), 10);
	gdb_jit_poll_source.poll(o, 2000000000u);
	assert_int_equal(gdb_jit_poll_source.wait_ms(o, 0), 0);
	end(pid);
	gdb_jit_poll_source.destroy(o);
	trace_writer_close(w);
	unlink(path);
	close(piped[0]), close(piped[1]);
}

static int first_mapping(void *base, const struct proc_mapping *m)
{
	char magic[SELFMAG];

	if (m->inode == 0 || m->offset || proc_mem_read(getpid(), m->start, magic, sizeof(magic)) || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return 0;
	*(uint64_t *)base = m->start;
	return 1;
}

static int c_library(void *base, const struct proc_mapping *m)
{
	return strstr(m->path, "/libc.so.6") ? first_mapping(base, m) : 0;
}

static void finds_symbols(void **state)
{
	uint64_t program = 0, library = 0;
	unsigned char byte;

	(void)state;
	assert_int_equal(proc_each_mapping(getpid(), first_mapping, &program), 1);
	assert_int_equal(proc_mem_find_program_symbol(getpid(), program, "__jit_debug_descriptor"), (uintptr_t)&__jit_debug_descriptor);
	assert_int_equal(proc_mem_find_program_symbol(getpid(), program, "no_such_symbol"), 0);
	if (proc_each_mapping(getpid(), c_library, &library) == 1) { /* a sanitizer may stand before it */
		assert_true(proc_mem_find_symbol(getpid(), library, "qsort") > library);
		assert_int_equal(proc_mem_find_symbol(getpid(), library, "no_such_symbol"), 0);
	}
	/* not an object at all, and nothing mapped */
	assert_int_equal(proc_mem_find_symbol(getpid(), (uintptr_t)no_elf, "qsort"), 0);
	assert_int_equal(proc_mem_find_symbol(getpid(), 8, "qsort"), 0);
	assert_int_equal(proc_mem_read(getpid(), 8, &byte, 1), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_registered_once),
		cmocka_unit_test(survives_lists_that_make_no_sense),
		cmocka_unit_test(a_long_list_is_read_in_portions),
		cmocka_unit_test(a_ring_is_walked_around_once),
		cmocka_unit_test(a_ring_beyond_the_limit_of_bytes_ends),
		cmocka_unit_test(a_hidden_list_is_found_soon_after_code_is_mapped),
		cmocka_unit_test(who_has_no_list_is_not_polled_for_one),
		cmocka_unit_test(finds_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
