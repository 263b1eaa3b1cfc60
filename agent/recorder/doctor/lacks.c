/* SPDX-License-Identifier: MIT */
#include "agent/recorder/doctor/lacks.h"

#include "agent/recorder/doctor/jit_sources.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/regular_file.h"
#include "jitreg/engines/duckdb_plan.h"
#include "jitreg/engines/postgres_layout.h"
#include "jitreg/engines/sqlite_program.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARIES_BYTES 16384
#define TEXT_BYTES 64

/* An image is an object that is mapped in a process, or that was read from a file. */
struct image {
	pid_t pid;
	uint64_t base;
	const unsigned char *file; /* NULL: the object is mapped in a process */
	const char *path;
	size_t bytes;
};

/* ------------------------------------------------------------------------------------------------------------ a file */

static const void *part_of_file(const struct image *i, uint64_t offset, uint64_t bytes)
{
	return offset <= i->bytes && bytes <= i->bytes - offset ? i->file + offset : NULL;
}

static bool read_file_address(const struct image *i, uint64_t address, void *to, size_t bytes)
{
	Elf64_Ehdr h;

	memcpy(&h, i->file, sizeof(h));
	for (uint32_t n = 0; n < h.e_phnum; n++) {
		const void *at = part_of_file(i, h.e_phoff + n * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
		Elf64_Phdr p;

		if (!at)
			return false;
		memcpy(&p, at, sizeof(p));
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		at = bytes <= p.p_filesz - (address - p.p_vaddr) ? part_of_file(i, p.p_offset + (address - p.p_vaddr), bytes) : NULL;
		if (at)
			memcpy(to, at, bytes);
		return at;
	}
	return false;
}

static bool read_section(const struct image *i, const Elf64_Ehdr *h, uint32_t n, Elf64_Shdr *s)
{
	const void *at = n < h->e_shnum ? part_of_file(i, h->e_shoff + n * sizeof(*s), sizeof(*s)) : NULL;

	if (at)
		memcpy(s, at, sizeof(*s));
	return at;
}

static uint64_t find_in_table(const struct image *i, const Elf64_Shdr *table, const Elf64_Shdr *names, const char *name)
{
	const char *texts = part_of_file(i, names->sh_offset, names->sh_size);
	const size_t bytes = strlen(name) + 1;

	for (uint64_t n = 0; texts && n < table->sh_size / sizeof(Elf64_Sym); n++) {
		const void *at = part_of_file(i, table->sh_offset + n * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
		Elf64_Sym s;

		if (!at)
			return 0;
		memcpy(&s, at, sizeof(s));
		if (s.st_shndx != SHN_UNDEF && s.st_name < names->sh_size && bytes <= names->sh_size - s.st_name &&
		    memcmp(texts + s.st_name, name, bytes) == 0)
			return s.st_value;
	}
	return 0;
}

/* Returns the address of a symbol that the file exports, or 0. */
static uint64_t find_file_symbol(const struct image *i, const char *name)
{
	Elf64_Shdr table, names;
	Elf64_Ehdr h;

	memcpy(&h, i->file, sizeof(h));
	for (uint32_t n = 0; n < h.e_shnum; n++)
		if (read_section(i, &h, n, &table) && table.sh_type == SHT_DYNSYM && read_section(i, &h, table.sh_link, &names))
			return find_in_table(i, &table, &names, name);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- an object */

static uint64_t find_symbol(const struct image *i, const char *name)
{
	return i->file ? find_file_symbol(i, name) : proc_mem_find_symbol(i->pid, i->base, name);
}

static bool read_address(const struct image *i, uint64_t address, void *to, size_t bytes)
{
	return i->file ? read_file_address(i, address, to, bytes) : proc_mem_read(i->pid, address, to, bytes) == 0;
}

/*
 * Reads the text that a function returns which does nothing else.  Its code is [endbr64] lea rax, [rip + n]; ret, or mov rax, [rip + n];
 * ret, if a variable points to the text.  Returns false for any other function.
 */
static bool read_returned_text(const struct image *i, const char *function, char text[TEXT_BYTES])
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, lea[] = { 0x48, 0x8d, 0x05 }, mov[] = { 0x48, 0x8b, 0x05 };
	uint64_t at = find_symbol(i, function), address;
	unsigned char code[12];
	int32_t distance;

	if (!at || !read_address(i, at, code, sizeof(code)))
		return false;
	if (memcmp(code, endbr64, sizeof(endbr64)) == 0) {
		memmove(code, code + sizeof(endbr64), sizeof(code) - sizeof(endbr64));
		at += sizeof(endbr64);
	}
	if (code[7] != 0xc3 || (memcmp(code, lea, sizeof(lea)) != 0 && memcmp(code, mov, sizeof(mov)) != 0))
		return false;
	memcpy(&distance, code + sizeof(lea), sizeof(distance));
	address = at + 7 + (uint64_t)(int64_t)distance;
	if (code[1] == mov[1] && !read_address(i, address, &address, sizeof(address)))
		return false;
	for (int n = 0; n < TEXT_BYTES - 1; n++) { /* read byte by byte, because the text may end where its memory does */
		if (!read_address(i, address + (uint64_t)n, text + n, 1))
			return false;
		if (!text[n])
			return n > 0;
	}
	text[TEXT_BYTES - 1] = 0;
	return true;
}

static void add(struct host_lacks *to, enum host_version host, const char *version, const char *why)
{
	struct host_lack l;

	host_lack_set(&l, host, version, why);
	host_lacks_add(to, &l);
}

static void add_unknown_version(struct host_lacks *to, enum host_version host, const char *version)
{
	if (!host_version_is_verified(host, version))
		add(to, host, version, "");
}

static void look_at_python(const struct image *i, struct host_lacks *to)
{
	uint64_t at = find_symbol(i, "_PyEval_EvalFrameDefault") ? find_symbol(i, "Py_Version") : 0, number; /* 3.11 and later have it */
	char version[TEXT_BYTES];

	if (!at || !read_address(i, at, &number, sizeof(number)))
		return;
	snprintf(version, sizeof(version), "%u.%u.%u", (unsigned)(number >> 24 & 0xff), (unsigned)(number >> 16 & 0xff),
		 (unsigned)(number >> 8 & 0xff));
	add_unknown_version(to, HOST_CPYTHON, version);
}

static void look_at_v8(const struct image *i, struct host_lacks *to)
{
	char version[TEXT_BYTES];

	if (read_returned_text(i, "_ZN2v82V810GetVersionEv", version))
		add_unknown_version(to, HOST_V8, version);
}

/* Checks a library for the first of the functions that the agent replaces, because the agent needs all of them.  names: the names of that
 * function in different versions. */
static void look_at_library(const struct image *i, enum host_version host, const char *version_function, const char *own,
			    const char *const *names, size_t nr, struct host_lacks *to)
{
	char version[TEXT_BYTES], why[HOST_WHY_BYTES];

	if (!find_symbol(i, own) || !read_returned_text(i, version_function, version))
		return;
	for (size_t n = 0; n < nr; n++)
		if (find_symbol(i, names[n]))
			return;
	snprintf(why, sizeof(why), HOST_LACKS_SYMBOL, HOST_LACKS_SYMBOL_ARGUMENTS(names[0]));
	add(to, host, version, why);
}

/* Is it SQLite's own file?  A program that contains SQLite need not use it, so nothing is missing there. */
static bool is_sqlites_own(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strstr(slash ? slash : path, "sqlite");
}

static void look_at_object(const struct image *i, struct host_lacks *to)
{
	static const char *const duckdb[] = { DUCKDB_BEGINS }, *const sqlite[] = { SQLITE_SET_SQL };

	look_at_python(i, to);
	look_at_v8(i, to);
	look_at_library(i, HOST_DUCKDB, "duckdb_library_version", "duckdb_open", duckdb, sizeof(duckdb) / sizeof(duckdb[0]), to);
	if (is_sqlites_own(i->path))
		look_at_library(i, HOST_SQLITE, "sqlite3_libversion", "sqlite3_step", sqlite, sizeof(sqlite) / sizeof(sqlite[0]), to);
}

/* ------------------------------------------------------------------------------------------------- a process, a program */

struct look {
	pid_t pid;
	struct host_lacks *to;
};

static int look_at_mapping(void *context, const struct proc_mapping *m)
{
	const struct look *l = context;

	if (m->path[0] == '/' && m->offset == 0)
		look_at_object(&(struct image){ .pid = l->pid, .base = m->start, .path = m->path }, l->to);
	return 0;
}

/* PostgreSQL's program contains its version as a text. */
static void look_at_postgresql(const char *text, size_t bytes, struct host_lacks *to)
{
	const char *found = memmem(text, bytes, POSTGRES_VERSION_TEXT, sizeof(POSTGRES_VERSION_TEXT) - 1);
	char version[16];
	int nr = 0;

	if (!found || !memmem(text, bytes, "standard_ExecutorRun", sizeof("standard_ExecutorRun")))
		return;
	for (found += sizeof(POSTGRES_VERSION_TEXT) - 1; found < text + bytes && *found >= '0' && *found <= '9' && nr < 3; found++)
		version[nr++] = *found;
	version[nr] = 0;
	if (!postgres_layout_of((unsigned)atoi(version)))
		add(to, HOST_POSTGRESQL, version, "");
}

void lacks_of_file(const char *path, struct host_lacks *to)
{
	int fd = regular_file_open(path);
	unsigned char *bytes = NULL;
	struct stat st;
	ssize_t n = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr))
		bytes = malloc((size_t)st.st_size); /* a mapping would kill this process if the file is truncated */
	if (bytes)
		n = read(fd, bytes, (size_t)st.st_size);
	if (n > (ssize_t)sizeof(Elf64_Ehdr) && memcmp(bytes, ELFMAG, SELFMAG) == 0 && bytes[EI_CLASS] == ELFCLASS64) {
		look_at_object(&(struct image){ .file = bytes, .bytes = (size_t)n, .path = path }, to);
		look_at_postgresql((const char *)bytes, (size_t)n, to);
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
}

void lacks_of_process(pid_t pid, struct host_lacks *to)
{
	struct look l = { proc_mem_living_thread(pid), to };

	if (l.pid)
		proc_each_mapping(l.pid, look_at_mapping, &l);
}

void lacks_of_program(const char *path, struct host_lacks *to)
{
	char libraries[LIBRARIES_BYTES], *rest;

	lacks_of_file(path, to);
	jit_sources_list_libraries(path, libraries, sizeof(libraries));
	for (char *line = libraries; *line; line = rest) { /* a line is NAME => PATH (ADDRESS) */
		char *at;

		rest = line + strcspn(line, "\n");
		if (*rest)
			*rest++ = 0;
		at = strstr(line, " => /");
		if (!at)
			continue;
		at += strlen(" => ");
		at[strcspn(at, " ")] = 0;
		lacks_of_file(at, to);
	}
}
