/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/gdb_jit_scan.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/mapping_kind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define BYTES_MAX (512u << 20) /* maximum number of bytes searched in one process */
#define CHUNK_BYTES (1u << 20)
#define BATCH 512u	    /* maximum number of suspects (words like a descriptor) whose first entries are read by one system call */
#define READS_MAX 100000u   /* maximum number of system calls for entries and objects of suspects */
#define ENTRIES_MAX 64u	    /* maximum number of entries of a list that are checked */
#define ELF_BYTES_MAX (1ull << 30)
#define USER_END (1ull << 47)

struct entry {
	uint64_t next, prev, symfile, symfile_bytes;
};

struct descriptor {
	uint32_t version, action_flag;
	uint64_t relevant, first;
};

struct area {
	uint64_t start, end;
};

struct suspect {
	uint64_t address;
	struct descriptor d;
};

struct scan {
	pid_t pid;
	void (*found)(void *context, uint64_t descriptor);
	void *context;
	unsigned char *chunk;
	ARRAY(struct area) areas; /* readable memory, sorted by address, adjacent mappings joined */
	struct suspect suspect[BATCH];
	uint32_t nr_suspects;
	uint64_t looked_at, object_end; /* bytes that were searched; end of the last object's mappings so far, where its bss may follow */
	uint64_t file;			/* inode of the last mapped file */
	uint64_t file_end;		/* end of the object of that file in memory; 0: the file is no loaded object */
	uint32_t nr_reads;
	bool cut; /* a limit was reached */
};

static int add_readable_area(void *context, const struct proc_mapping *m)
{
	struct scan *s = context;

	if (!(m->prot & PROT_READ) || strncmp(m->path, "[v", 2) == 0) /* [vdso], [vvar] and [vsyscall] are the kernel's own */
		return 0;
	if (s->areas.nr && s->areas.at[s->areas.nr - 1].end == m->start) {
		s->areas.at[s->areas.nr - 1].end = m->end;
		return 0;
	}
	if (!ARRAY_PUSH(s->areas, (struct area){ m->start, m->end }))
		return -ENOMEM;
	return 0;
}

/* Are all of these bytes in memory that was readable when the mappings were listed? */
static bool is_memory_readable(const struct scan *s, uint64_t address, uint64_t bytes)
{
	uint32_t low = 0, high = s->areas.nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->areas.at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->areas.nr && s->areas.at[low].start <= address && bytes <= s->areas.at[low].end - address;
}

static bool may_be_list_entry(const struct scan *s, uint64_t at)
{
	return at % 8 == 0 && at < USER_END && is_memory_readable(s, at, sizeof(struct entry));
}

/* May the entry follow the one at `before` in a list? This is checked without a system call, since most words that look like a descriptor
 * are none. */
static bool entry_may_follow_in_list(const struct scan *s, const struct entry *e, uint64_t before)
{
	return e->prev == before && (!e->next || may_be_list_entry(s, e->next)) && e->symfile_bytes >= sizeof(Elf64_Ehdr) &&
	       e->symfile_bytes <= ELF_BYTES_MAX && is_memory_readable(s, e->symfile, e->symfile_bytes);
}

static int read_memory_counted(struct scan *s, uint64_t at, void *to, size_t bytes)
{
	if (s->nr_reads == READS_MAX) {
		s->cut = true;
		return -E2BIG;
	}
	s->nr_reads++;
	return proc_mem_read(s->pid, at, to, bytes);
}

static bool entry_has_elf_symfile(struct scan *s, const struct entry *e)
{
	Elf64_Ehdr h;

	return read_memory_counted(s, e->symfile, &h, sizeof(h)) == 0 && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 &&
	       h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_ehsize == sizeof(h) &&
	       (h.e_type == ET_REL || h.e_type == ET_EXEC || h.e_type == ET_DYN);
}

/* Does the descriptor have a consistent list?  e: its first entry, which has been read. */
static bool is_gdb_jit_list(struct scan *s, const struct descriptor *d, struct entry e)
{
	bool has_relevant = d->relevant == 0 || d->action_flag == 2; /* action 2: the relevant entry was removed from the list */
	uint64_t at = d->first, before = 0;

	for (uint32_t nr = 1;; nr++) {
		if (!entry_may_follow_in_list(s, &e, before) || !entry_has_elf_symfile(s, &e))
			return false;
		has_relevant |= at == d->relevant;
		before = at;
		at = e.next;
		if (!at || nr == ENTRIES_MAX)
			return has_relevant || at; /* if at is not 0, the relevant entry may be in the part that is not checked */
		if (read_memory_counted(s, at, &e, sizeof(e)))
			return false;
	}
}

/* Reads the first entries of all suspects, and checks these.  One system call reads all entries up to the next that cannot be read. */
static void check_suspect_descriptors(struct scan *s)
{
	struct entry e[BATCH];
	struct iovec there[BATCH];

	for (uint32_t i = 0; i < s->nr_suspects; i++)
		there[i] = (struct iovec){ (void *)(uintptr_t)s->suspect[i].d.first, sizeof(e[0]) };
	for (uint32_t from = 0, to; from < s->nr_suspects; from = to + 1) {
		ssize_t n = proc_mem_read_many(s->pid, there + from, s->nr_suspects - from, e + from);

		if (s->nr_reads == READS_MAX)
			s->cut = true;
		if (s->cut || n == -ESRCH || n == -EPERM)
			break;
		s->nr_reads++;
		to = from + (n > 0 ? (uint32_t)((size_t)n / sizeof(e[0])) : 0); /* entry `to` could not be read */
		for (uint32_t i = from; i < to; i++)
			if (entry_may_follow_in_list(s, &e[i], 0) && is_gdb_jit_list(s, &s->suspect[i].d, e[i]))
				s->found(s->context, s->suspect[i].address);
	}
	s->nr_suspects = 0;
}

static void add_suspect_descriptor(struct scan *s, const unsigned char *bytes, uint64_t address)
{
	struct descriptor d;

	memcpy(&d, bytes, sizeof(d));
	if (d.version != 1 || d.action_flag > 2 || !may_be_list_entry(s, d.first) ||
	    (d.relevant && d.action_flag != 2 && d.relevant != d.first && !may_be_list_entry(s, d.relevant)))
		return;
	s->suspect[s->nr_suspects++] = (struct suspect){ address, d };
	if (s->nr_suspects == BATCH)
		check_suspect_descriptors(s);
}

static void scan_memory_for_descriptors(struct scan *s, uint64_t start, uint64_t end)
{
	while (end - start >= sizeof(struct descriptor) && !s->cut) {
		size_t bytes = end - start < CHUNK_BYTES ? (size_t)(end - start) : CHUNK_BYTES;
		size_t last = bytes - sizeof(struct descriptor);

		if (proc_mem_read(s->pid, start, s->chunk, bytes))
			return; /* the memory was unmapped, or cannot be read */
		for (size_t i = 0; i <= last; i += 8)
			if (s->chunk[i] == 1)
				add_suspect_descriptor(s, s->chunk + i, start + i);
		check_suspect_descriptors(s);
		s->looked_at += bytes;
		if (bytes == end - start)
			return;
		s->cut |= s->looked_at >= BYTES_MAX;
		start += last / 8 * 8 + 8; /* address of the first descriptor that was not completely in this chunk */
	}
}

/* Searches a mapping if it is writable data of an object, or the memory behind it that the loader mapped for data without initial values
 * (bss).  The end of the latter is taken from the object's headers, because the kernel joins later mappings with it (Python's arenas). */
static int scan_object_data_mapping(void *context, const struct proc_mapping *m)
{
	struct scan *s = context;
	bool file = m->inode != 0 && m->path[0] == '/', behind = !m->inode && !m->path[0] && m->start == s->object_end;
	uint64_t end = m->end;

	if (file && (m->offset == 0 || m->inode != s->file)) {
		s->file = m->inode;
		s->file_end = m->offset == 0 ? proc_mem_object_end(s->pid, m->start) : 0;
	}
	if (file && s->file_end)
		s->object_end = m->end;
	if (!(m->prot & PROT_READ) || !(m->prot & PROT_WRITE) || !(behind || (file && s->file_end)))
		return 0;
	if (behind && end > s->file_end)
		end = s->file_end;
	if (end > m->start)
		scan_memory_for_descriptors(s, m->start, end);
	if (behind && m->end < s->file_end) /* the bss may consist of several mappings */
		s->object_end = m->end;
	return s->cut;
}

int gdb_jit_scan_find(pid_t pid, void (*found)(void *context, uint64_t descriptor), void *context)
{
	struct scan *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	if (!s)
		return ret;
	*s = (struct scan){ .pid = pid, .found = found, .context = context, .chunk = malloc(CHUNK_BYTES) };
	if (s->chunk)
		ret = proc_each_mapping(pid, add_readable_area, s);
	if (ret == 0)
		ret = proc_each_mapping(pid, scan_object_data_mapping, s);
	free(s->areas.at);
	free(s->chunk);
	free(s);
	return ret;
}

static int is_generated_code_mapping(void *context, const struct proc_mapping *m)
{
	(void)context;
	return (m->prot & PROT_EXEC) && mapping_may_hold_generated_code(m->path, strlen(m->path), m->prot, m->shared);
}

int gdb_jit_scan_has_generated_code(pid_t pid)
{
	return proc_each_mapping(pid, is_generated_code_mapping, NULL);
}
