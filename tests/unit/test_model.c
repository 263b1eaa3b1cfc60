/* SPDX-License-Identifier: MIT */
/* A model made of a trace's records: what was at an address of a process at a time, where code comes and goes, and processes fork. */
#include "tests/unit/unit.h"

#include "analyzer/model/model.h"
#include "jitreg/trace/writer.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARENT = 100, CHILD = 200 };
#define CODE 0x7f0000001000ull
#define BYTES 0x100ull

static char path[64];
static struct trace_writer *w;
static struct trace_reader *t;
static struct model *m;

static int begin(void **state)
{
	(void)state;
	strcpy(path, "/tmp/tailor-test-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, TRACE_PLAIN, &w, NULL), 0);
	TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
	return 0;
}

static void read_model(void)
{
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_int_equal(model_create(t, &m, NULL), 0);
}

static int forget(void **state)
{
	(void)state;
	model_destroy(m);
	trace_close(t);
	return unlink(path);
}

#define PUT(record, time_ns, pid, ...) assert_int_equal(TRACE_PUT(w, record, time_ns, pid, pid, __VA_ARGS__), 0)

static void load(uint64_t time_ns, uint32_t pid, uint64_t address, const char *name)
{
	PUT(load, time_ns, pid, .pid = pid, .tid = pid, .vma = address, .code_addr = address, .code_size = BYTES,
	    .name = trace_string(name));
}

static void mapped(uint64_t time_ns, uint32_t pid, uint64_t address, const char *file)
{
	PUT(mmap, time_ns, pid, .address = address, .bytes = BYTES, .prot = 5, .path = trace_string(file));
}

/* The name of what a process has at an address at a time; "" for nothing. */
static const char *at(uint32_t pid, uint64_t address, uint64_t time_ns)
{
	const struct code *c = model_find_code(model_get_process(m, pid, time_ns), address, time_ns);

	return !c ? "" : c->kind == CODE_IMAGE ? c->path : c->name;
}

static void expect(uint32_t pid, uint64_t address, uint64_t time_ns, const char *name)
{
	assert_string_equal(at(pid, address, time_ns), name);
}

static void an_address_is_used_again(void **state)
{
	(void)state;
	load(10, PARENT, CODE, "first");
	load(30, PARENT, CODE, "second");
	PUT(code_unload, 50, PARENT, .address = CODE, .bytes = BYTES);
	load(70, PARENT, CODE + BYTES / 2, "half");
	read_model();
	expect(PARENT, CODE, 9, "");
	expect(PARENT, CODE, 10, "first");
	expect(PARENT, CODE + BYTES - 1, 29, "first");
	expect(PARENT, CODE, 30, "second");
	expect(PARENT, CODE, 50, "");
	expect(PARENT, CODE, 80, "");
	expect(PARENT, CODE + BYTES / 2, 80, "half");
	expect(PARENT, CODE + BYTES, 60, "");
	expect(PARENT, CODE, 49, "second"); /* still: times decide, not the order of questions */
	assert_int_equal(m->codes.nr, 3);
}

static void load_with_lines(uint32_t pid, uint64_t address, uint64_t second_line)
{
	const struct trace_line rows[2] = { { address + 8, second_line, 0, trace_string("/x.py") },
					    { address, 3, 0, trace_string("/x.py") } };

	PUT(debug_info, 10, pid, .code_addr = address, .nr_entry = 2, .entries = { rows, 2 });
	load(10, pid, address, "f");
}

/* Processes that run one program register the same functions at other addresses. */
static void equal_line_tables_are_in_memory_once(void **state)
{
	const struct code *first, *same, *other;

	(void)state;
	load_with_lines(PARENT, CODE, 4);
	load_with_lines(CHILD, CODE + 7 * BYTES, 4);
	load_with_lines(CHILD, CODE, 5);
	read_model();
	first = model_find_code(model_get_process(m, PARENT, 20), CODE, 20);
	same = model_find_code(model_get_process(m, CHILD, 20), CODE + 7 * BYTES, 20);
	other = model_find_code(model_get_process(m, CHILD, 20), CODE, 20);
	assert_int_equal(first->nr_lines, 2);
	assert_int_equal(same->nr_lines, 2);
	assert_ptr_equal(first->lines, same->lines);
	assert_ptr_not_equal(first->lines, other->lines);
	assert_int_equal(first->lines[0].offset, 0);
	assert_int_equal(first->lines[1].offset, 8);
	assert_int_equal(first->lines[1].line, 4);
	assert_int_equal(other->lines[1].line, 5);
	assert_string_equal(first->lines[0].file, "/x.py");
	assert_ptr_equal(first->lines[0].file, other->lines[1].file);
}

/* A program that goes to another processor during its exec has its mappings in two rings, which are drained one after the other. */
static void the_first_mapping_by_time_is_the_program(void **state)
{
	(void)state;
	mapped(30, PARENT, CODE + 0x1000, "/lib/ld-linux-x86-64.so.2");
	mapped(20, PARENT, CODE, "/bin/program");
	mapped(40, PARENT, CODE + 0x2000, "/lib/libc.so.6");
	read_model();
	assert_string_equal(model_get_process(m, PARENT, 50)->executable, "/bin/program");
}

/* perf lists the mappings of a process that is there already by their addresses, all at one time. */
static void the_program_of_a_list_of_mappings_is_no_library(void **state)
{
	static const struct {
		const char *comm, *files[4], *program;
	} lists[] = {
		{ "planted-worker-with-a", { "/opt/x/libfirst.so.7", "/opt/x/other", "/opt/x/planted-worker-with-a-long-name" },
		  "/opt/x/planted-worker-with-a-long-name" },
		{ "Compositor", { "/usr/lib/libz.so.1.2.13", "[vdso]", "/opt/planted/browser", "/usr/lib/libc.so.6" },
		  "/opt/planted/browser" },
		{ "gone", { "/lib/libc.so.6", "/opt/gone (deleted)" }, "/opt/gone" },
		{ "unknown", { "/lib/ld-2.15.so", "/lib/libnss_files-2.15.so" }, "" },
		{ "", { "/lib/ld-2.15.so", "/lib/libc.so.6" }, "/lib/ld-2.15.so" },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char comm[16];

		snprintf(comm, sizeof(comm), "%s", lists[i].comm);
		PUT(process, 10, PARENT + 10 + i, .ppid = 1, .comm = trace_string(comm));
		for (uint32_t n = 0; n < 4 && lists[i].files[n]; n++)
			mapped(10, PARENT + 10 + i, CODE + n * 0x1000, lists[i].files[n]);
	}
	read_model();
	for (uint32_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		assert_string_equal(model_get_process(m, PARENT + 10 + i, 50)->executable, lists[i].program);
}

static void expect_name(const char *told, const char *name)
{
	load(10, PARENT, CODE, "A$$Lambda.0x00007f2a00000c08.f");
	load(10, PARENT, CODE + 0x1000, "A$$Lambda.0x00007f2a00000a08.f");
	load(10, PARENT, CODE + 0x2000, told);
	read_model();
	expect(PARENT, CODE, 20, "A$$Lambda$2.f");
	expect(PARENT, CODE + 0x1000, 20, "A$$Lambda$1.f");
	expect(PARENT, CODE + 0x2000, 20, name);
}

static void methods_of_java_have_neither_signatures_nor_addresses(void **state)
{
	static const char *const names[][2] = {
		{ "A$$Lambda.0x00007f2a00000a08.g", "A$$Lambda$1.g" }, /* another method of that class */
		{ "int A$$Lambda$14/0x00007f2a00000a08.f(int)", "A$$Lambda$14.f" },
		{ "java.lang.invoke.LambdaForm$MH.0x00007f2a00000e08.invoke", "java.lang.invoke.LambdaForm$MH$1.invoke" },
		{ "void java.util.TimSort.sort(java.lang.Object[], int, int)", "java.util.TimSort.sort" },
		{ "java.util.List[] a.B.<init>()", "a.B.<init>" },
		/* what is no method of Java's */
		{ "void a::B.f(int)", "void a::B.f(int)" },
		{ "void f(int)", "void f(int)" },
		{ "scan (a.b)", "scan (a.b)" },
		{ "operator new (a.b)", "operator new (a.b)" },
		{ "libjit$.so+0x961201", "libjit$.so+0x961201" },
		{ "code.0x00007f2a00000a08", "code.0x00007f2a00000a08" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		expect_name(names[i][0], names[i][1]);
		forget(state);
		begin(state);
	}
	read_model();
}

static const char *thread_name(uint32_t tid, uint64_t time_ns)
{
	struct time_range holds = TIME_RANGE_ALL;

	return m->threads.at[model_find_thread(m, model_get_process(m, PARENT, time_ns), tid, time_ns, &holds)].comm;
}

/* Records of two processors: in no order of time. */
static void a_thread_has_its_name_of_the_time(void **state)
{
	struct time_range holds = TIME_RANGE_ALL;
	uint32_t again;

	(void)state;
	assert_int_equal(TRACE_PUT(w, comm, 30, PARENT, 7, .comm = trace_string("export")), 0);
	assert_int_equal(TRACE_PUT(w, comm, 20, PARENT, 7, .comm = trace_string("import")), 0);
	assert_int_equal(TRACE_PUT(w, comm, 40, PARENT, 7, .comm = trace_string("import")), 0);
	assert_int_equal(TRACE_PUT(w, comm, 20, PARENT, 8, .comm = trace_string("other")), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "request %d", (int)i);
		assert_int_equal(TRACE_PUT(w, comm, 100 + i, PARENT, 9, .comm = trace_string(name)), 0);
	}
	read_model();
	assert_string_equal(thread_name(7, 10), "import"); /* what it is called before is its maker's */
	assert_string_equal(thread_name(7, 29), "import");
	assert_string_equal(thread_name(7, 30), "export");
	again = model_find_thread(m, model_get_process(m, PARENT, 50), 7, 50, &holds);
	assert_int_equal(holds.from_ns, 40);
	assert_int_equal(again, model_find_thread(m, model_get_process(m, PARENT, 25), 7, 25, &holds));
	assert_string_equal(thread_name(8, 50), "other");
	assert_string_equal(thread_name(9, 101), "request 1");
	assert_string_equal(thread_name(9, 1099), "request 999");
}

#define NAME(record, time_ns, tid, ...) assert_int_equal(TRACE_PUT(w, record, time_ns, PARENT, tid, __VA_ARGS__), 0)

/* The kernel has the beginning of a name: behind the whole one, or beside it, it is the same; what comes then is another. */
static void a_thread_has_its_whole_name(void **state)
{
	(void)state;
	NAME(comm, 10, 7, .comm = trace_string("java"));
	NAME(thread_name, 20, 7, .name = trace_string("worker of task 1 of 2"));
	NAME(comm, 21, 7, .comm = trace_string("worker of task "));
	NAME(comm, 30, 7, .comm = trace_string("worker of task "));
	NAME(thread_name, 40, 7, .name = trace_string("worker of task 2 of 2"));
	NAME(comm, 41, 7, .comm = trace_string("worker of task "));
	NAME(comm, 50, 7, .comm = trace_string("another"));
	NAME(comm, 20, 8, .comm = trace_string("Executor task l"));
	NAME(thread_name, 20, 8, .name = trace_string("Executor task launch worker"));
	NAME(comm, 30, 8, .comm = trace_string("Executor task l"));
	NAME(thread_name, 40, 8, .name = trace_string(""));
	NAME(thread_name, 20, 9, .name = trace_string("first.middle.last"));
	NAME(comm, 21, 9, .comm = trace_string("first.m..e.last"));
	read_model();
	assert_string_equal(thread_name(7, 19), "java");
	assert_string_equal(thread_name(7, 29), "worker of task 1 of 2");
	assert_string_equal(thread_name(7, 30), "worker of task ");
	assert_string_equal(thread_name(7, 49), "worker of task 2 of 2");
	assert_string_equal(thread_name(7, 50), "another");
	assert_string_equal(thread_name(8, 20), "Executor task launch worker");
	assert_string_equal(thread_name(8, 45), "Executor task l");
	assert_string_equal(thread_name(9, 30), "first.middle.last");
}

/* What it maps first is a library: the program is its parent's. */
static void a_forked_child_is_its_parents_program(void **state)
{
	(void)state;
	PUT(comm, 10, PARENT, .exec = 1, .comm = trace_string("host"));
	PUT(fork, 30, CHILD, .ppid = PARENT, .ptid = PARENT);
	mapped(40, CHILD, CODE + 0x1000, "/lib/libz.so.1");
	mapped(11, PARENT, CODE, "/bin/host");
	read_model();
	assert_string_equal(model_get_process(m, CHILD, 50)->executable, "/bin/host");
	assert_string_equal(model_get_process(m, PARENT, 50)->executable, "/bin/host");
}

static const char *service_at(uint32_t pid, uint64_t time_ns)
{
	return process_service(model_get_process(m, pid, time_ns));
}

/* A program that ended before its service could be read has no record of it. */
static void a_program_has_the_service_of_the_one_before_unless_it_says_another(void **state)
{
	(void)state;
	PUT(process, 1, PARENT, .executable = trace_string("/bin/sh"), .comm = trace_string("sh"));
	PUT(service, 1, PARENT, .group = trace_string("/g"), .name = trace_string("shop"));
	PUT(fork, 10, CHILD, .ppid = PARENT, .ptid = PARENT);
	PUT(comm, 20, CHILD, .exec = 1, .comm = trace_string("short"));
	PUT(comm, 30, CHILD, .exec = 1, .comm = trace_string("own"));
	PUT(service, 30, CHILD, .group = trace_string("/g"), .name = trace_string("till"));
	PUT(comm, 40, CHILD, .exec = 1, .comm = trace_string("none"));
	PUT(service, 40, CHILD, .group = trace_string(""), .name = trace_string(""));
	read_model();
	assert_string_equal(service_at(PARENT, 50), "shop");
	assert_string_equal(service_at(CHILD, 15), "shop");
	assert_string_equal(service_at(CHILD, 25), "shop");
	assert_string_equal(service_at(CHILD, 35), "till");
	assert_string_equal(service_at(CHILD, 45), "");
}

static void truffles_code_has_the_functions_name(void **state)
{
	(void)state;
	load(10, PARENT, CODE, "Object runtime.OptimizedCallTarget.profiledPERoot(Object[]) jvmci_name=fib#2"); /* by the perf map */
	load(10, PARENT, CODE, "runtime.OptimizedCallTarget.profiledPERoot"); /* by the JVM's memory */
	load(10, PARENT, CODE + BYTES, "runtime.OptimizedCallTarget.profiledPERoot"); /* no map has it */
	load(10, PARENT, CODE + 2 * BYTES, "Object runtime.OptimizedCallTarget.profiledPERoot(Object[]) jvmci_name=bif#1");
	load(20, PARENT, CODE + 2 * BYTES, "java.lang.String.equals"); /* another method's, of as many bytes */
	read_model();
	expect(PARENT, CODE + 8, 15, "fib");
	expect(PARENT, CODE + BYTES + 8, 15, "runtime.OptimizedCallTarget.profiledPERoot");
	expect(PARENT, CODE + 2 * BYTES + 8, 15, "bif");
	expect(PARENT, CODE + 2 * BYTES + 8, 25, "java.lang.String.equals");
}

static void an_unload_without_a_length_ends_what_begins_there(void **state)
{
	(void)state;
	load(10, PARENT, CODE, "gone");
	load(10, PARENT, CODE + BYTES, "beside");
	PUT(code_unload, 20, PARENT, .address = CODE);
	read_model();
	expect(PARENT, CODE + 5, 19, "gone");
	expect(PARENT, CODE + 5, 20, "");
	expect(PARENT, CODE + BYTES, 20, "beside");
}

static void code_that_moves_is_in_one_place(void **state)
{
	(void)state;
	load(10, PARENT, CODE, "mover");
	PUT(move, 20, PARENT, .vma = CODE, .old_code_addr = CODE, .new_code_addr = CODE + 0x1000, .code_size = BYTES);
	read_model();
	expect(PARENT, CODE, 19, "mover");
	expect(PARENT, CODE + 0x1000, 19, "");
	expect(PARENT, CODE, 20, "");
	expect(PARENT, CODE + 0x1000 + BYTES - 1, 20, "mover");
}

static void what_came_before_the_agent_was_always_there(void **state)
{
	(void)state;
	load(JITREG_TIME_BEFORE, PARENT, CODE, "old");
	load(100, PARENT, CODE, "new");
	read_model();
	expect(PARENT, CODE, 0, "old");
	expect(PARENT, CODE, 99, "old");
	expect(PARENT, CODE, 100, "new");
}

static void regions_answer_only_where_nobody_said_more(void **state)
{
	(void)state;
	mapped(5, PARENT, CODE, "//anon");
	load(10, PARENT, CODE, "said");
	PUT(region, 20, PARENT, .address = CODE, .bytes = 2 * BYTES, .prot = 5, .mapper_offset = 0x42,
	    .mapper = trace_string("/lib/libjit.so"));
	read_model();
	expect(PARENT, CODE, 6, "anonymous code");
	expect(PARENT, CODE, 25, "said");
	expect(PARENT, CODE + BYTES, 25, "anonymous code, mapped by libjit.so+0x42");
}

static void refused(const char *file, const char *reason)
{
	PUT(image_file, 20, 0, .key = trace_string(file), .path = trace_string(file), .reason = trace_string(reason));
}

/* Of a file that is no ELF file, and of any that is writable and executable. */
static void a_file_that_code_is_generated_into_is_a_region(void **state)
{
	(void)state;
	mapped(5, PARENT, CODE, "/tmp/orcexec (deleted)");
	PUT(mmap, 6, PARENT, .address = CODE + 0x1000, .bytes = BYTES, .prot = 7, .path = trace_string("/lib/heap.core"));
	mapped(7, PARENT, CODE + 0x2000, "/lib/unread.so");
	PUT(region, 8, PARENT, .address = CODE, .bytes = BYTES, .prot = 5, .mapper_offset = 0x42, .mapper = trace_string("/lib/libjit.so"));
	load(10, PARENT, CODE, "said");
	refused("/tmp/orcexec (deleted)", TRACE_NOT_ELF);
	refused("/lib/heap.core", "Permission denied");
	refused("/lib/unread.so", "Permission denied");
	read_model();
	expect(PARENT, CODE, 9, "code in orcexec, mapped by libjit.so+0x42");
	expect(PARENT, CODE, 10, "said");
	expect(PARENT, CODE + 0x1000, 9, "code in heap.core");
	expect(PARENT, CODE + 0x2000, 9, "/lib/unread.so");
}

static void mapped_file(uint64_t address, const char *file, uint64_t device, uint64_t inode)
{
	PUT(mmap, 10, PARENT, .address = address, .bytes = BYTES, .prot = 5, .path = trace_string(file), .device = device, .inode = inode);
}

static void image_file(const char *key, const char *file, uint64_t device, uint64_t inode)
{
	PUT(image_file, 30, 0, .key = trace_string(key), .path = trace_string(file), .device = device, .inode = inode);
}

/* What a guest says of a library that it has just loaded, with the file's bytes. */
static void jit_library(uint64_t at, const char *build_id, const char *file)
{
	const struct jitreg_segment segment = { CODE, BYTES, 0, 5 };

	PUT(image, at, PARENT, .segments = { &segment, 1 }, .build_id = trace_string(build_id), .path = trace_string(file),
	    .bytes = trace_string("not an ELF"));
}

/* By the kernel's path, which has no link in it. */
static void a_library_that_is_listed_late_is_the_one_that_the_guest_told_of(void **state)
{
	const struct jitreg_segment segment = { CODE, BYTES, 0, 5 }, other = { CODE + 0x1000, BYTES, 0, 5 };

	(void)state;
	PUT(image, 5, PARENT, .segments = { &segment, 1 }, .build_id = trace_string("AB"), .path = trace_string("/lib/libc.so.6"));
	PUT(image, 5, PARENT, .load_bias = CODE + 0x1000, .segments = { &other, 1 }, .build_id = trace_string("AC"),
	    .path = trace_string("/lib/libm.so.6"));
	PUT(image_unload, 7, PARENT, .load_bias = CODE + 0x1000);
	mapped_file(CODE, "/usr/lib/libc.so.6", 1, 7);
	mapped_file(CODE + 0x1000, "/usr/lib/libz.so.1", 1, 8); /* another one came to that place */
	image_file("4142", "/lib/libc.so.6", 0, 0);
	image_file("4143", "/lib/libm.so.6", 0, 0);
	read_model();
	assert_string_equal(model_find_code(model_get_process(m, PARENT, 35), CODE, 35)->file->path, "/lib/libc.so.6");
	assert_null(model_find_code(model_get_process(m, PARENT, 35), CODE + 0x1000, 35)->file);
}

/* The guest says so when the library is loaded; a recorder that comes later lists what is mapped. */
static void a_library_that_a_jit_wrote_stays_one_when_it_is_listed_again(void **state)
{
	(void)state;
	jit_library(10, "id", "/tmp/query.so");
	mapped(20, PARENT, CODE, "/tmp/query.so");
	mapped(20, PARENT, CODE + 0x1000, "/lib/other.so");
	image_file("/lib/other.so", "/lib/other.so", 0, 0);
	read_model();
	assert_true(model_find_code(model_get_process(m, PARENT, 15), CODE, 15)->generated);
	assert_true(model_find_code(model_get_process(m, PARENT, 25), CODE, 25)->generated);
	assert_false(model_find_code(model_get_process(m, PARENT, 25), CODE + 0x1000, 25)->generated);
}

/* The recorder has read the file of a library that a JIT wrote, so that the mapping is nearer to that file than to what the guest said. */
static void a_library_that_a_jit_wrote_stays_one_when_it_is_read(void **state)
{
	(void)state;
	jit_library(10, "AB", "/tmp/query.so");
	mapped_file(CODE, "/tmp/query.so", 1, 7);
	image_file("4142", "/tmp/query.so", 1, 7);
	image_file("4143", "/tmp/query.so", 1, 8);
	mapped_file(CODE + 0x1000, "/tmp/query.so", 1, 8);
	read_model();
	assert_true(model_find_code(model_get_process(m, PARENT, 35), CODE, 35)->generated);
	assert_false(model_find_code(model_get_process(m, PARENT, 35), CODE + 0x1000, 35)->generated);
}

/* An ELF file of so many bytes: of its header is known that it is one.  bytes 0: its parts are a copy's. */
static void elf_file(const char *key, const char *file, uint64_t inode, uint64_t bytes)
{
	const Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				  .e_type = ET_DYN,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_ehsize = sizeof(head) };
	const struct trace_file_part part = { 0, { (const char *)&head, sizeof(head) } };

	PUT(image_file, 30, 0, .key = trace_string(key), .path = trace_string(file), .file_bytes = bytes ? bytes : 4096,
	    .reason = trace_string(bytes ? "" : TRACE_COPY), .parts = { &part, bytes > 0 }, .device = 1, .inode = inode);
}

static const struct image_file *file_at(uint64_t address)
{
	const struct code *c = model_find_code(model_get_process(m, PARENT, 35), address, 35);

	return c ? c->file : NULL;
}

/* Mappings that were there before have no build id, so that only the record of a path says which content it has. */
static void copies_of_a_file_share_its_parts(void **state)
{
	(void)state;
	mapped_file(CODE, "/a/service", 1, 7);
	mapped_file(CODE + 0x1000, "/b/service", 1, 8);
	mapped_file(CODE + 0x2000, "/a/service", 1, 9); /* another root's */
	mapped_file(CODE + 0x3000, "/b/service", 1, 10);
	elf_file("4142", "/a/service", 7, 4096);
	elf_file("4142", "/b/service", 8, 0);
	elf_file("4142", "/a/service", 9, 0);
	elf_file("4344", "/b/service", 10, 8192); /* of another build */
	read_model();
	assert_non_null(file_at(CODE)->elf);
	assert_ptr_equal(file_at(CODE + 0x1000)->elf, file_at(CODE)->elf);
	assert_string_equal(file_at(CODE + 0x1000)->path, "/b/service");
	assert_string_equal(file_at(CODE + 0x1000)->reason, "");
	assert_ptr_equal(file_at(CODE + 0x2000)->elf, file_at(CODE)->elf);
	assert_non_null(file_at(CODE + 0x3000)->elf);
	assert_ptr_not_equal(file_at(CODE + 0x3000)->elf, file_at(CODE)->elf);
}

static void a_guests_link_is_the_copy_that_the_kernel_mapped_there(void **state)
{
	const struct jitreg_segment segment = { CODE + 0x1000, BYTES, 0, 5 };

	(void)state;
	mapped_file(CODE, "/a/libc.so.6", 1, 7);
	mapped_file(CODE + 0x1000, "/b/libc.so.6", 1, 8);
	PUT(image, 20, PARENT, .segments = { &segment, 1 }, .build_id = trace_string("AB"), .path = trace_string("/lib/libc.so.6"));
	elf_file("4142", "/a/libc.so.6", 7, 4096);
	elf_file("4142", "/b/libc.so.6", 8, 0);
	read_model();
	assert_string_equal(file_at(CODE + 0x1000)->path, "/b/libc.so.6");
}

/* Of a file that is gone the build id says what was in it, if a copy is there. */
static void a_file_that_is_gone_has_the_parts_of_its_copy(void **state)
{
	(void)state;
	PUT(mmap, 10, PARENT, .address = CODE, .bytes = BYTES, .prot = 5, .path = trace_string("/a/gone.so"),
	    .build_id = trace_string("AB"));
	PUT(image_file, 30, 0, .key = trace_string("4142"), .path = trace_string("/a/gone.so"),
	    .reason = trace_string("No such file or directory"));
	elf_file("4142", "/b/here.so", 8, 4096);
	read_model();
	assert_string_equal(file_at(CODE)->path, "/a/gone.so");
	assert_non_null(file_at(CODE)->elf);
}

static void a_child_has_its_parents_code_as_it_was(void **state)
{
	(void)state;
	PUT(process, 1, PARENT, .ppid = 1, .executable = trace_string("/bin/host"), .comm = trace_string("host"));
	load(10, PARENT, CODE, "common");
	load(10, PARENT, CODE + 0x1000, "replaced by the child");
	PUT(fork, 20, CHILD, .ppid = PARENT, .ptid = PARENT);
	load(30, PARENT, CODE, "the parent's own");
	load(40, CHILD, CODE + 0x1000, "the child's own");
	PUT(code_unload, 50, CHILD, .address = CODE, .bytes = BYTES);
	read_model();
	expect(CHILD, CODE, 25, "common");
	expect(CHILD, CODE, 45, "common"); /* not what came to the parent later */
	expect(PARENT, CODE, 45, "the parent's own");
	expect(CHILD, CODE + 0x1000, 39, "replaced by the child");
	expect(CHILD, CODE + 0x1000, 40, "the child's own");
	expect(PARENT, CODE + 0x1000, 60, "replaced by the child");
	expect(CHILD, CODE, 50, ""); /* gone is gone, whatever the parent has */
	expect(PARENT, CODE, 50, "the parent's own");
	assert_string_equal(model_get_process(m, CHILD, 25)->comm, "host");
}

static void another_program_has_nothing_of_the_one_before(void **state)
{
	(void)state;
	PUT(process, 1, PARENT, .ppid = 1, .executable = trace_string("/bin/sh"), .comm = trace_string("sh"));
	load(10, PARENT, CODE, "the shell's");
	PUT(fork, 20, CHILD, .ppid = PARENT, .ptid = PARENT);
	PUT(comm, 30, CHILD, .exec = 1, .comm = trace_string("ls"));
	mapped(31, CHILD, CODE + 0x1000, "/bin/ls");
	PUT(fork, 100, CHILD, .ppid = PARENT, .ptid = PARENT); /* the number is used again */
	read_model();
	expect(CHILD, CODE, 29, "the shell's");
	expect(CHILD, CODE, 35, "");
	expect(CHILD, CODE + 0x1000, 35, "/bin/ls");
	expect(CHILD, CODE, 101, "the shell's");
	expect(CHILD, CODE + 0x1000, 101, "");
	assert_string_equal(model_get_process(m, CHILD, 35)->executable, "/bin/ls");
	assert_int_equal(m->processes.nr, 4);
}

static void the_latest_tag_is_in_force_also_in_children(void **state)
{
	uint64_t from_ns, until_ns;

	(void)state;
	PUT(tag, 10, PARENT, .where = 1);
	PUT(tag, 30, PARENT, .where = 2);
	PUT(fork, 40, CHILD, .ppid = PARENT, .ptid = PARENT);
	read_model();
	assert_null(model_ask_tag(model_get_process(m, PARENT, 5), 5, &from_ns, &until_ns));
	assert_int_equal(until_ns, 10);
	assert_int_equal(model_ask_tag(model_get_process(m, PARENT, 5), 29, &from_ns, &until_ns)->where, 1);
	assert_int_equal(from_ns, 10);
	assert_int_equal(until_ns, 30);
	assert_int_equal(model_find_tag(model_get_process(m, CHILD, 50), 50)->where, 2);
}

enum { OPERATOR = 1, IR = 2 };

static void component(uint64_t time_ns, uint64_t id, const char *name)
{
	PUT(component, time_ns, PARENT, .level = OPERATOR, .component = id, .name = trace_string(name));
}

static void source(uint64_t time_ns, uint32_t pid, uint32_t level, uint32_t flags, const char *name, const char *text)
{
	PUT(source, time_ns, pid, .level = level, .flags = flags, .name = trace_string(name), .text = trace_string(text));
}

static void scope(uint64_t time_ns, uint64_t first, const char *name, const char *text)
{
	PUT(scope, time_ns, PARENT, .action = JITREG_SCOPE_BEGIN, .first_id = first, .nr_ids = 10, .name = trace_string(name),
	    .text = trace_string(text));
}

static void expect_query(uint64_t id, const char *name, const char *text)
{
	const struct process *p = model_get_process(m, PARENT, 1000);
	const uint32_t level = dictionary_get_level(&m->dictionary, OPERATOR);
	const char *its_name = NULL, *its_text;

	its_text = model_find_query(m, dictionary_find_component(&m->dictionary, p->number, level, id), &its_name);
	if (text)
		assert_string_equal(its_text, text);
	else
		assert_null(its_text);
	assert_string_equal(its_name, name);
}

static const char *key_at(uint64_t address)
{
	const struct code *c = model_find_code(model_get_process(m, PARENT, 20), address, 20);

	return c && c->file ? c->file->key : "";
}

/* A library that was replaced at its path: what the trace has of one is not of the other. */
static void files_of_one_path_are_told_apart_by_their_build_ids(void **state)
{
	static const char *const ids[] = { "AA", "BB", "CC", "AA\1", "" };

	(void)state;
	for (uint64_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		PUT(mmap, 10, PARENT, .address = CODE + i * BYTES, .bytes = BYTES, .prot = 5, .path = trace_string("/lib/a.so"),
		    .build_id = trace_string(ids[i]));
	PUT(mmap, 10, PARENT, .address = CODE + 5 * BYTES, .bytes = BYTES, .prot = 5, .path = trace_string("/lib/plain.so"),
	    .build_id = trace_string("DD"));
	image_file("4141", "/lib/a.so", 0, 0);
	image_file("4242", "/lib/a.so", 0, 0);
	image_file("/lib/plain.so", "/lib/plain.so", 0, 0);
	read_model();
	assert_string_equal(key_at(CODE), "4141");
	assert_string_equal(key_at(CODE + BYTES), "4242");
	assert_string_equal(key_at(CODE + 2 * BYTES), "");
	assert_string_equal(key_at(CODE + 3 * BYTES), "4141"); /* cut, or padded */
	assert_string_equal(key_at(CODE + 4 * BYTES), "4141"); /* that of the mapping is not known */
	assert_string_equal(key_at(CODE + 5 * BYTES), "/lib/plain.so");
}

/* A library that was replaced at its path, and whose mapping has no build id: device and inode say which file it was. */
static void files_of_one_path_are_told_apart_by_their_inodes(void **state)
{
	const struct code *c;

	(void)state;
	mapped_file(CODE, "/lib/plain.so", 1, 7);
	mapped_file(CODE + BYTES, "/lib/plain.so", 1, 8);
	mapped_file(CODE + 2 * BYTES, "/lib/plain.so", 1, 9);
	mapped_file(CODE + 3 * BYTES, "/lib/a.so", 1, 8);
	mapped_file(CODE + 4 * BYTES, "/lib/a.so", 2, 8);
	image_file("/lib/plain.so", "/lib/plain.so", 1, 7);
	image_file("/lib/plain.so", "/lib/plain.so", 1, 8);
	image_file("4141", "/lib/a.so", 1, 7);
	image_file("4242", "/lib/a.so", 1, 8);
	read_model();
	for (uint64_t i = 0; i < 2; i++) {
		c = model_find_code(model_get_process(m, PARENT, 20), CODE + i * BYTES, 20);
		assert_non_null(c->file);
		assert_int_equal(c->file->identity.inode, 7 + i);
	}
	assert_string_equal(key_at(CODE + 2 * BYTES), "");
	assert_string_equal(key_at(CODE + 3 * BYTES), "4242");
	/* one with a build id is written once, whatever mounts it was seen in */
	assert_string_equal(key_at(CODE + 4 * BYTES), "4141");
}

/* The loader's path of a library leads through a link, and the recorder, which came later, had the file by that one. */
static void a_file_is_found_by_the_guests_path_of_it(void **state)
{
	const struct jitreg_segment segment[] = { { CODE, BYTES, 0, 5 }, { CODE + 0x1000, BYTES, 0, 5 } };

	(void)state;
	for (int i = 0; i < 2; i++)
		PUT(image, 5, PARENT, .load_bias = segment[i].address, .segments = { &segment[i], 1 }, .build_id = trace_string("AA"),
		    .path = trace_string("/lib/a.so"));
	PUT(image_unload, 7, PARENT, .load_bias = CODE + 0x1000);
	mapped_file(CODE, "/usr/lib/a.so.1", 1, 7);
	mapped_file(CODE + 0x1000, "/usr/lib/b.so.1", 1, 8);
	image_file("4141", "/lib/a.so", 0, 0);
	read_model();
	assert_string_equal(key_at(CODE), "4141");
	assert_string_equal(key_at(CODE + 0x1000), "");
}

/* Two workers, forked from who mapped the memory, and a process that has it elsewhere. */
static void code_in_shared_memory_has_what_any_process_says_of_it(void **state)
{
	enum { OTHER = CHILD + 1, ELSEWHERE };

	(void)state;
	mapped_file(CODE, "/dev/zero (deleted)", 1, 7);
	mapped_file(CODE + 0x1000, "/dev/zero (deleted)", 1, 8);
	PUT(fork, 20, CHILD, .ppid = PARENT, .ptid = PARENT);
	PUT(fork, 20, OTHER, .ppid = PARENT, .ptid = PARENT);
	PUT(mmap, 20, ELSEWHERE, .address = CODE + 0x2000, .bytes = BYTES, .prot = 5, .path = trace_string("/dev/zero (deleted)"),
	    .device = 1, .inode = 7);
	load(30, CHILD, CODE, "shared");
	load(40, CHILD, CODE, "shared later");
	load(40, OTHER, CODE + 0x1000, "of another file");
	read_model();
	expect(OTHER, CODE, 35, "shared");
	expect(OTHER, CODE, 45, "shared later");
	expect(PARENT, CODE, 45, "shared later");
	expect(CHILD, CODE + 0x1000, 45, "of another file");
	expect(ELSEWHERE, CODE + 0x2000, 35, "shared");
	expect(ELSEWHERE, CODE, 45, "");
	assert_int_equal(model_find_code(model_get_process(m, ELSEWHERE, 35), CODE + 0x2000, 35)->address, CODE + 0x2000);
}

static void a_component_is_of_the_query_before_it_or_of_its_scope(void **state)
{
	(void)state;
	source(10, PARENT, IR, 0, "one.ll", "define");
	source(11, PARENT, 0, JITREG_SOURCE_QUERY, "one", "select 1");
	component(20, 1, "scan of one");
	source(30, PARENT, IR, JITREG_SOURCE_QUERY, "two", "select 2");
	component(40, 2, "scan of two");
	scope(50, 100, "query 3", "select 3");
	scope(51, 200, "one", "");
	scope(52, 300, "query 4", "");
	component(60, 100, "in a scope with its text");
	component(61, 200, "in a scope that is called as a text");
	component(62, 300, "in a scope without a text");
	source(70, CHILD, 0, JITREG_SOURCE_QUERY, "another process", "select 4");
	read_model();
	expect_query(1, "one", "select 1");
	expect_query(2, "two", "select 2");
	expect_query(100, "query 3", "select 3");
	expect_query(200, "one", "select 1");
	expect_query(300, "query 4", NULL);
	expect_query(999, "", NULL);
}

static void a_query_that_is_announced_last_is_that_of_the_components_before_it(void **state)
{
	(void)state;
	component(20, 1, "scan");
	source(30, PARENT, 0, JITREG_SOURCE_QUERY, "one", "select 1");
	read_model();
	expect_query(1, "one", "select 1");
}

static void a_process_has_the_version_of_its_header(void **state)
{
	(void)state;
	PUT(hello, 20, PARENT, .version = JITREG_VERSION);
	component(20, 1, "scan");
	read_model();
	assert_int_equal(model_get_process(m, PARENT, 30)->header_version, JITREG_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_address_is_used_again, begin, forget),
		cmocka_unit_test_setup_teardown(equal_line_tables_are_in_memory_once, begin, forget),
		cmocka_unit_test_setup_teardown(the_program_of_a_list_of_mappings_is_no_library, begin, forget),
		cmocka_unit_test_setup_teardown(the_first_mapping_by_time_is_the_program, begin, forget),
		cmocka_unit_test_setup_teardown(methods_of_java_have_neither_signatures_nor_addresses, begin, forget),
		cmocka_unit_test_setup_teardown(a_library_that_is_listed_late_is_the_one_that_the_guest_told_of, begin, forget),
		cmocka_unit_test_setup_teardown(a_thread_has_its_name_of_the_time, begin, forget),
		cmocka_unit_test_setup_teardown(a_thread_has_its_whole_name, begin, forget),
		cmocka_unit_test_setup_teardown(a_forked_child_is_its_parents_program, begin, forget),
		cmocka_unit_test_setup_teardown(a_program_has_the_service_of_the_one_before_unless_it_says_another, begin, forget),
		cmocka_unit_test_setup_teardown(truffles_code_has_the_functions_name, begin, forget),
		cmocka_unit_test_setup_teardown(an_unload_without_a_length_ends_what_begins_there, begin, forget),
		cmocka_unit_test_setup_teardown(code_that_moves_is_in_one_place, begin, forget),
		cmocka_unit_test_setup_teardown(what_came_before_the_agent_was_always_there, begin, forget),
		cmocka_unit_test_setup_teardown(regions_answer_only_where_nobody_said_more, begin, forget),
		cmocka_unit_test_setup_teardown(a_file_that_code_is_generated_into_is_a_region, begin, forget),
		cmocka_unit_test_setup_teardown(a_library_that_a_jit_wrote_stays_one_when_it_is_listed_again, begin, forget),
		cmocka_unit_test_setup_teardown(a_library_that_a_jit_wrote_stays_one_when_it_is_read, begin, forget),
		cmocka_unit_test_setup_teardown(copies_of_a_file_share_its_parts, begin, forget),
		cmocka_unit_test_setup_teardown(a_guests_link_is_the_copy_that_the_kernel_mapped_there, begin, forget),
		cmocka_unit_test_setup_teardown(a_file_that_is_gone_has_the_parts_of_its_copy, begin, forget),
		cmocka_unit_test_setup_teardown(a_child_has_its_parents_code_as_it_was, begin, forget),
		cmocka_unit_test_setup_teardown(another_program_has_nothing_of_the_one_before, begin, forget),
		cmocka_unit_test_setup_teardown(the_latest_tag_is_in_force_also_in_children, begin, forget),
		cmocka_unit_test_setup_teardown(files_of_one_path_are_told_apart_by_their_build_ids, begin, forget),
		cmocka_unit_test_setup_teardown(files_of_one_path_are_told_apart_by_their_inodes, begin, forget),
		cmocka_unit_test_setup_teardown(a_file_is_found_by_the_guests_path_of_it, begin, forget),
		cmocka_unit_test_setup_teardown(code_in_shared_memory_has_what_any_process_says_of_it, begin, forget),
		cmocka_unit_test_setup_teardown(a_component_is_of_the_query_before_it_or_of_its_scope, begin, forget),
		cmocka_unit_test_setup_teardown(a_query_that_is_announced_last_is_that_of_the_components_before_it, begin, forget),
		cmocka_unit_test_setup_teardown(a_process_has_the_version_of_its_header, begin, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
