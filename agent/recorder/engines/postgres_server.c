/* SPDX-License-Identifier: MIT */
/* Finds the version, variables and functions of a PostgreSQL server, from its exported symbols and its memory. */
#include "agent/recorder/engines/postgres.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/grow.h"
#include "jitreg/hosts/host_versions.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CONSTANTS 8
#define CONSTANTS_MAX (64u << 20)
#define AT_A_TIME (256u << 10)

/* These are the mappings of a server's process by which its program is read, and the first mapping of llvmjit.so. */
struct image {
	pid_t pid;
	uint64_t base;
	struct postgres_range constants[CONSTANTS]; /* the first ones that are not writable; older linkers put constants beside code */
	uint32_t nr_constants;
	uint64_t inode, llvm; /* llvm: address of llvmjit.so, or 0 */
};

static int note_server_mapping(void *context, const struct proc_mapping *m)
{
	struct image *i = context;
	const char *name = strrchr(m->path, '/');
	unsigned char magic[SELFMAG];

	if (m->path[0] != '/' || m->inode == 0)
		return 0;
	if (m->offset == 0 && strncmp(name, "/llvmjit.so", 11) == 0 && !i->llvm)
		i->llvm = m->start;
	if (!i->base) {
		if (m->offset || proc_mem_read(i->pid, m->start, magic, sizeof(magic)) || memcmp(magic, ELFMAG, SELFMAG) != 0)
			return 0;
		i->base = m->start;
		i->inode = m->inode;
	}
	if (m->inode != i->inode)
		return 0;
	if (!(m->prot & PROT_WRITE) && i->nr_constants < CONSTANTS)
		i->constants[i->nr_constants++] = (struct postgres_range){ m->start, m->end };
	return 0;
}

/* Returns the number after POSTGRES_VERSION_TEXT in this range of memory, or 0. */
static unsigned find_server_version(const struct image *i, struct postgres_range in)
{
	const size_t overlap = sizeof(POSTGRES_VERSION_TEXT) + 8;
	char *part = malloc(AT_A_TIME + 1);
	unsigned major = 0;

	for (uint64_t at = in.begin; part && !major && at < in.end && at - in.begin < CONSTANTS_MAX;
	     at += AT_A_TIME - overlap) {
		size_t bytes = in.end - at < AT_A_TIME ? (size_t)(in.end - at) : AT_A_TIME;
		const char *found;

		if (proc_mem_read(i->pid, at, part, bytes))
			break;
		part[bytes] = 0;
		found = memmem(part, bytes, POSTGRES_VERSION_TEXT, sizeof(POSTGRES_VERSION_TEXT) - 1);
		if (found)
			major = (unsigned)strtoul(found + sizeof(POSTGRES_VERSION_TEXT) - 1, NULL, 10);
	}
	free(part);
	return major;
}

void postgres_server_add_class(struct postgres_server *s, enum postgres_class class, uint64_t function)
{
	for (uint32_t i = 0; i < s->class_nr[class]; i++)
		if (s->class_function[class][i] == function)
			return;
	if (function && s->class_nr[class] < POSTGRES_CLASS_FUNCTIONS)
		s->class_function[class][s->class_nr[class]++] = function;
}

static void find_server_symbols(struct postgres_server *s, pid_t pid)
{
	static const struct {
		enum postgres_class class;
		const char *name;
	} class_symbols[] = {
#define SYMBOL(NAME, symbol) { POSTGRES_CLASS_##NAME, symbol },
		POSTGRES_CLASS_SYMBOLS(SYMBOL)
#undef SYMBOL
	};

	for (int i = 0; i < POSTGRES_NR_SYMBOLS; i++)
		s->code.symbol[i] = proc_mem_find_symbol(pid, s->base, postgres_symbol_name((enum postgres_symbol)i));
	for (size_t i = 0; i < sizeof(class_symbols) / sizeof(class_symbols[0]); i++)
		postgres_server_add_class(s, class_symbols[i].class, proc_mem_find_symbol(pid, s->base, class_symbols[i].name));
}

/* Returns a number that is the same for all processes of this run of the postmaster, so that components have the same numbers in all
 * recordings of it. */
static uint64_t salt_of_postmaster(const struct postgres_server *s, pid_t pid)
{
	uint64_t start = proc_mem_find_symbol(pid, s->base, "PgStartTime"), start_time = 0;
	uint32_t postmaster = 0;

	proc_mem_read(pid, s->postmaster_pid, &postmaster, sizeof(postmaster));
	if (start)
		proc_mem_read(pid, start, &start_time, sizeof(start_time));
	return postgres_salt(postmaster, start_time);
}

static bool is_postgres_server(struct postgres_server *s, pid_t pid)
{
	s->active_portal = proc_mem_find_symbol(pid, s->base, "ActivePortal");
	s->my_entry = proc_mem_find_symbol(pid, s->base, "MyBEEntry");
	s->my_pid = proc_mem_find_symbol(pid, s->base, "MyProcPid");
	s->postmaster_pid = proc_mem_find_symbol(pid, s->base, "PostmasterPid");
	s->my_wait = proc_mem_find_symbol(pid, s->base, "my_wait_event_info");
	return s->active_portal && s->my_entry && s->my_pid && s->postmaster_pid;
}

static void say_lack(const struct engines *e, pid_t pid, unsigned major, const char *why)
{
	struct host_lack l;
	char version[16];

	snprintf(version, sizeof(version), "%u", major);
	host_lack_set(&l, HOST_POSTGRESQL, major ? version : "", major || *why ? why : "its program has no version");
	e->recording->lack(e->recording->recording, (uint32_t)pid, &l);
}

struct postgres_server *postgres_server_find(struct engines *e, pid_t pid)
{
	struct image i = { .pid = pid };
	struct postgres_server *s;
	struct postgres_reader r = { .read = page_cache_read, .context = &e->memory->pages };
	unsigned major = 0;

	proc_each_mapping(pid, note_server_mapping, &i);
	if (!i.base || !ARRAY_GROW(e->servers))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->base = i.base;
	r.code = &s->code;
	page_cache_reset(&e->memory->pages, pid);
	if (!is_postgres_server(s, pid) || !postgres_code_init(&r, s->base)) {
		free(s);
		return NULL;
	}
	find_server_symbols(s, pid);
	s->salt = salt_of_postmaster(s, pid);
	for (uint32_t n = i.nr_constants; n > 0 && !major; n--)
		major = find_server_version(&i, i.constants[n - 1]);
	s->layout = postgres_layout_of(major);
	if (!s->layout) {
		say_lack(e, pid, major, "");
	} else if (!postgres_code_find_function(&r, s->code.symbol[POSTGRES_EXECUTOR_RUN], &s->run)) {
		s->layout = NULL;
		say_lack(e, pid, major, "it exports no standard_ExecutorRun, or has no unwind information");
	} else if (!postgres_code_find_function(&r, s->code.symbol[POSTGRES_EXECUTOR_FINISH], &s->finish)) {
		s->finish = (struct postgres_range){ 0, 0 };
	}
	return e->servers.at[e->servers.nr++] = s;
}

struct postgres_reader postgres_server_reader(struct engines *e, const struct postgres_backend *b)
{
	return (struct postgres_reader){ page_cache_read, &e->memory->pages, b->server->layout, &b->server->code,
					 &b->server->catalog };
}

void postgres_server_find_llvm(struct engines *e, struct postgres_backend *b)
{
	static const char *const names[] = {
#define SYMBOL(NAME, symbol) symbol,
		POSTGRES_LLVM_SYMBOLS(SYMBOL)
#undef SYMBOL
	};
	struct image i = { .pid = b->pid };
	const struct postgres_reader r = { .read = page_cache_read, .context = &e->memory->pages, .code = &e->memory->llvm };

	b->llvm_mapped = false;
	b->llvm_nr = 0;
	proc_each_mapping(b->pid, note_server_mapping, &i);
	for (size_t n = 0; i.llvm && n < sizeof(names) / sizeof(names[0]); n++) {
		uint64_t found = proc_mem_find_symbol(b->pid, i.llvm, names[n]);

		if (found && b->llvm_nr < sizeof(b->llvm_function) / sizeof(b->llvm_function[0]))
			b->llvm_function[b->llvm_nr++] = found;
	}
	if (!i.llvm || b->llvm_nr)
		return;
	page_cache_reset(&e->memory->pages, b->pid);
	b->llvm_nr = postgres_code_llvm_functions(&r, i.llvm, proc_mem_find_symbol(b->pid, i.llvm, POSTGRES_LLVM_INIT), b->llvm_function,
						  sizeof(b->llvm_function) / sizeof(b->llvm_function[0]));
}
