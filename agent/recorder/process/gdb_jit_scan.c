/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/gdb_jit_scan.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES_MAX (128u << 20) /* looked through in one process */
#define BEHIND_MAX (4u << 20)  /* ... behind one object's data: the kernel joins what is mapped there later */
#define CHUNK_BYTES (1u << 20)
#define SUSPECTS_MAX 10000u /* whose lists are asked for */
#define ENTRIES_MAX 64u	    /* of a list, that have to be in order */
#define ELF_BYTES_MAX (1ull << 30)
#define USER_END (1ull << 47)

struct entry {
	uint64_t next, prev, symfile, symfile_bytes;
};

struct descriptor {
	uint32_t version, action_flag;
	uint64_t relevant, first;
};

struct scan {
	pid_t pid;
	void (*found)(void *context, uint64_t descriptor);
	void *context;
	unsigned char *chunk;
	uint64_t looked_at, object_end; /* where the data of the last object ends, and its bss may begin */
	uint64_t file;			/* the inode of the last mapped file */
	bool is_elf;			/* ... which is an object, not data that a program mapped */
	uint32_t suspects;
	int error;
};

static bool is_pointer(uint64_t p)
{
	return p % 8 == 0 && p >= 4096 && p < USER_END;
}

static bool has_elf(pid_t pid, const struct entry *e)
{
	Elf64_Ehdr h;

	return e->symfile >= 4096 && e->symfile < USER_END && e->symfile_bytes >= sizeof(h) && e->symfile_bytes <= ELF_BYTES_MAX &&
	       proc_mem_read(pid, e->symfile, &h, sizeof(h)) == 0 && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 &&
	       h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_ehsize == sizeof(h) &&
	       (h.e_type == ET_REL || h.e_type == ET_EXEC || h.e_type == ET_DYN);
}

/* Is this a list, from its first entry on? */
static bool is_list(pid_t pid, const struct descriptor *d)
{
	bool has_relevant = d->relevant == 0 || d->action_flag == 2; /* one that was taken out is in no list */
	uint64_t at = d->first, before = 0;
	uint32_t nr = 0;

	for (; at && nr < ENTRIES_MAX; nr++) {
		struct entry e;

		if (!is_pointer(at) || proc_mem_read(pid, at, &e, sizeof(e)) || e.prev != before || !has_elf(pid, &e))
			return false;
		has_relevant |= at == d->relevant;
		before = at;
		at = e.next;
	}
	return nr > 0 && (has_relevant || at); /* at: it is longer than was looked at */
}

static void look_at(struct scan *s, const unsigned char *bytes, uint64_t address)
{
	struct descriptor d;

	memcpy(&d, bytes, sizeof(d));
	if (d.version != 1 || d.action_flag > 2 || !is_pointer(d.first) || (d.relevant && !is_pointer(d.relevant)) ||
	    s->suspects >= SUSPECTS_MAX)
		return;
	s->suspects++;
	if (is_list(s->pid, &d))
		s->found(s->context, address);
}

static void look_through(struct scan *s, uint64_t start, uint64_t end)
{
	while (end - start >= sizeof(struct descriptor) && s->looked_at < BYTES_MAX) {
		size_t bytes = end - start < CHUNK_BYTES ? (size_t)(end - start) : CHUNK_BYTES;
		size_t last = bytes - sizeof(struct descriptor);

		if (proc_mem_read(s->pid, start, s->chunk, bytes))
			return; /* it has gone, or was never there */
		for (size_t i = 0; i <= last; i += 8)
			if (s->chunk[i] == 1)
				look_at(s, s->chunk + i, start + i);
		s->looked_at += bytes;
		if (bytes == end - start)
			return;
		start += last / 8 * 8 + 8; /* the next one that was not whole in this chunk */
	}
}

static bool begins_as_elf(pid_t pid, const struct proc_mapping *m)
{
	char magic[SELFMAG];

	return m->offset == 0 && proc_mem_read(pid, m->start, magic, sizeof(magic)) == 0 && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Data of an object, and what the loader mapped behind it for data without initial values. */
static int look_at_mapping(void *context, const struct proc_mapping *m)
{
	struct scan *s = context;
	bool file = m->inode != 0 && m->path[0] == '/', behind = !m->inode && !m->path[0] && m->start == s->object_end;
	uint64_t end = m->end;

	if (file && (m->offset == 0 || m->inode != s->file)) {
		s->file = m->inode;
		s->is_elf = begins_as_elf(s->pid, m);
	}
	if (file && s->is_elf)
		s->object_end = m->end;
	if (!(m->prot & PROT_READ) || !(m->prot & PROT_WRITE) || !(behind || (file && s->is_elf)))
		return 0;
	if (behind && end - m->start > BEHIND_MAX)
		end = m->start + BEHIND_MAX;
	look_through(s, m->start, end);
	return 0;
}

int gdb_jit_scan_find(pid_t pid, void (*found)(void *context, uint64_t descriptor), void *context)
{
	struct scan s = { .pid = pid, .found = found, .context = context, .chunk = malloc(CHUNK_BYTES) };
	int ret = s.chunk ? proc_each_mapping(pid, look_at_mapping, &s) : -ENOMEM;

	free(s.chunk);
	return ret;
}

static int is_generated(void *context, const struct proc_mapping *m)
{
	(void)context;
	/* [vdso] and [vsyscall] are the kernel's; a file in memory is a JIT's */
	return (m->prot & PROT_EXEC) && m->path[0] != '[' && (m->inode == 0 || strncmp(m->path, "/memfd:", 7) == 0 ||
							      strncmp(m->path, "/dev/zero", 9) == 0);
}

int gdb_jit_scan_generates(pid_t pid)
{
	return proc_each_mapping(pid, is_generated, NULL);
}
