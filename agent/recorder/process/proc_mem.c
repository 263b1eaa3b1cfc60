/* SPDX-License-Identifier: MIT */
/*
 * Numbers in a process's memory and in its files are not trusted. Counts and sizes are limited where memory is allocated or a loop visits
 * each item. Addresses are passed on to process_vm_readv(2), which fails for wrong ones. If a table is inconsistent, nothing is found.
 */
#include "agent/recorder/process/proc_mem.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/regular_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SET_UP_LOOKS 20
#define SET_UP_LOOK_US 100
#define HEADERS_MAX 64u
#define DYNAMIC_MAX 512u
#define DYNAMIC_AT_A_TIME 32u
#define CHAIN_MAX 4096u /* maximum number of symbols of one hash bucket that are compared */
#define NAME_MAX_BYTES 256u /* maximum number of bytes of a name that is looked for, its 0 included; V8's mangled ones are long */
#define SYMBOLS_AT_A_TIME 4096u
#define SYMTAB_BYTES_MAX (256u << 20)
#define STRINGS_BYTES_MAX (256u << 20)
#define SECTIONS_MAX 4096u

static bool thread_has_ended(pid_t pid, pid_t tid)
{
	struct proc_stat s;

	return !proc_stat(pid, tid, &s) || strchr("ZXx", s.state);
}

struct thread {
	pid_t pid, living;
};

static int note_living_thread(void *context, pid_t tid)
{
	struct thread *t = context;

	t->living = thread_has_ended(t->pid, tid) ? 0 : tid;
	return t->living != 0;
}

pid_t proc_mem_living_thread(pid_t pid)
{
	struct thread t = { pid, 0 };
	char path[64];

	if (!thread_has_ended(pid, 0))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	proc_each_numbered_entry(path, note_living_thread, &t);
	return t.living;
}

void proc_mem_wait_for_program(pid_t pid)
{
	char path[64], first;
	ssize_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	for (int i = 0; i < SET_UP_LOOKS && n == 0; i++) {
		int fd = regular_file_open(path);

		n = fd < 0 ? -1 : read(fd, &first, 1);
		if (fd >= 0)
			close(fd);
		if (n == 0 && !proc_mem_living_thread(pid))
			return;
		if (n == 0)
			usleep(SET_UP_LOOK_US);
	}
}

uint32_t proc_mem_number_in_proc(uint32_t pid)
{
	pid_t thread = proc_mem_living_thread((pid_t)pid);

	return thread > 0 ? (uint32_t)thread : pid;
}

static int64_t read_process_start_time_s(pid_t pid)
{
	struct timespec real, boot;
	struct proc_stat s;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	if (!proc_stat(pid, 0, &s))
		return real.tv_sec;
	return real.tv_sec - (boot.tv_sec - (int64_t)(s.start_ticks / (unsigned long long)sysconf(_SC_CLK_TCK)));
}

struct proc_mem_identity proc_mem_identify(pid_t pid)
{
	struct proc_mem_identity p = { .own_pid = pid, .uid = ~0u };
	struct proc_status s;

	if (proc_status(pid, 0, &s) == 0) {
		p.own_pid = s.own_pid;
		p.uid = (uid_t)s.effective_user;
	}
	p.born_s = read_process_start_time_s(pid);
	return p;
}

bool proc_mem_may_have_written(const struct proc_mem_identity *p, const struct stat *file)
{
	return S_ISREG(file->st_mode) && (file->st_uid == p->uid || file->st_uid == 0) && file->st_mtime + 1 >= p->born_s;
}

int proc_mem_read(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)address, bytes };
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);
	int error = errno;
	pid_t thread = n < 0 && error == ESRCH ? proc_mem_living_thread(pid) : 0;

	if (thread && thread != pid) { /* the first thread has ended, and another one has the memory */
		n = process_vm_readv(thread, &here, 1, &there, 1, 0);
		error = errno;
	}
	return n < 0 ? -error : (size_t)n == bytes ? 0 : -EFAULT;
}

ssize_t proc_mem_read_many(pid_t pid, const struct iovec *pieces, size_t nr, void *to)
{
	struct iovec here = { to, 0 };
	ssize_t n;

	for (size_t i = 0; i < nr; i++)
		here.iov_len += pieces[i].iov_len;
	n = process_vm_readv(pid, &here, 1, pieces, nr, 0);
	return n < 0 ? -errno : n;
}

struct tables {
	uint64_t symbols, strings, strings_bytes, gnu_hash, hash;
};

struct object {
	uint64_t bias;	  /* difference between addresses in memory and in the file */
	uint64_t dynamic; /* address of its dynamic section; 0: it has none */
	uint64_t functions; /* address of its .eh_frame_hdr; 0: it has none */
	uint64_t end;	  /* end of its last segment */
};

/* Reads the ELF header and the program headers at base.  Returns false if there is no readable object with a segment. */
static bool read_elf_headers(pid_t pid, uint64_t base, struct object *o)
{
	Elf64_Phdr ph[HEADERS_MAX];
	Elf64_Ehdr h;
	bool loaded = false;

	*o = (struct object){ 0 };
	if (proc_mem_read(pid, base, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_phentsize != sizeof(ph[0]) || h.e_phnum > HEADERS_MAX ||
	    proc_mem_read(pid, base + h.e_phoff, ph, h.e_phnum * sizeof(ph[0])))
		return false;
	for (int i = 0; i < h.e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && !loaded) { /* segments are sorted by address */
			o->bias = base - (ph[i].p_vaddr - ph[i].p_offset);
			loaded = true;
		}
		if (ph[i].p_type == PT_LOAD)
			o->end = o->bias + ph[i].p_vaddr + ph[i].p_memsz;
		if (ph[i].p_type == PT_DYNAMIC)
			o->dynamic = ph[i].p_vaddr;
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			o->functions = ph[i].p_vaddr;
	}
	o->dynamic = o->dynamic && loaded ? o->dynamic + o->bias : 0;
	o->functions = o->functions && loaded ? o->functions + o->bias : 0;
	return loaded;
}

uint64_t proc_mem_object_end(pid_t pid, uint64_t base)
{
	struct object o;

	return read_elf_headers(pid, base, &o) && o.end > base ? o.end : 0;
}

static bool read_dynamic_tables(pid_t pid, uint64_t bias, uint64_t dynamic, struct tables *t)
{
	Elf64_Dyn some[DYNAMIC_AT_A_TIME];

	*t = (struct tables){ 0 };
	for (unsigned i = 0; i < DYNAMIC_MAX; i++) {
		const struct iovec piece = { (void *)(uintptr_t)(dynamic + i * sizeof(some[0])), sizeof(some) };
		Elf64_Dyn d;
		uint64_t at;

		/* the mapped memory may end before DYNAMIC_AT_A_TIME entries; those that cannot be read stay 0, which ends the table */
		if (i % DYNAMIC_AT_A_TIME == 0) {
			memset(some, 0, sizeof(some));
			proc_mem_read_many(pid, &piece, 1, some);
		}
		d = some[i % DYNAMIC_AT_A_TIME];
		if (d.d_tag == DT_NULL)
			break;
		at = d.d_un.d_ptr < bias ? d.d_un.d_ptr + bias : d.d_un.d_ptr; /* the loader may have added the bias already */
		switch (d.d_tag) {
		case DT_SYMTAB:
			t->symbols = at;
			break;
		case DT_STRTAB:
			t->strings = at;
			break;
		case DT_STRSZ:
			t->strings_bytes = d.d_un.d_val;
			break;
		case DT_GNU_HASH:
			t->gnu_hash = at;
			break;
		case DT_HASH:
			t->hash = at;
			break;
		}
	}
	return t->symbols && t->strings;
}

/* Returns the address of symbol number i if it is a definition of name, else 0. */
static uint64_t symbol_address_if_named(pid_t pid, const struct tables *t, uint64_t bias, uint64_t i, const char *name)
{
	char text[NAME_MAX_BYTES];
	size_t bytes = strlen(name) + 1;
	Elf64_Sym s;

	if (bytes > sizeof(text) || proc_mem_read(pid, t->symbols + i * sizeof(s), &s, sizeof(s)) || s.st_shndx == SHN_UNDEF ||
	    s.st_value == 0 || s.st_name >= t->strings_bytes || bytes > t->strings_bytes - s.st_name ||
	    proc_mem_read(pid, t->strings + s.st_name, text, bytes) || memcmp(text, name, bytes) != 0)
		return 0;
	return s.st_value + bias;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static uint64_t find_symbol_by_gnu_hash(pid_t pid, const struct tables *t, uint64_t bias, const char *name)
{
	uint32_t head[4], i, chain, hash = gnu_hash(name); /* head: buckets, first symbol, bloom words, shift */
	uint64_t buckets, chains, found, bloom;

	if (proc_mem_read(pid, t->gnu_hash, head, sizeof(head)) || head[0] == 0)
		return 0;
	/* the Bloom filter rules out most names that the object does not have */
	if (head[2] && proc_mem_read(pid, t->gnu_hash + sizeof(head) + 8ull * (hash / 64 % head[2]), &bloom, sizeof(bloom)) == 0 &&
	    !(bloom >> hash % 64 & 1 && bloom >> (hash >> head[3] % 32) % 64 & 1))
		return 0;
	buckets = t->gnu_hash + sizeof(head) + 8ull * head[2];
	chains = buckets + 4ull * head[0];
	if (proc_mem_read(pid, buckets + 4ull * (hash % head[0]), &i, sizeof(i)) || i < head[1])
		return 0;
	for (unsigned n = 0; n < CHAIN_MAX; n++, i++) {
		if (proc_mem_read(pid, chains + 4ull * (i - head[1]), &chain, sizeof(chain)))
			return 0;
		if ((chain | 1) == (hash | 1)) {
			found = symbol_address_if_named(pid, t, bias, i, name);
			if (found)
				return found;
		}
		if (chain & 1)
			return 0;
	}
	return 0;
}

static uint64_t find_symbol_by_sysv_hash(pid_t pid, const struct tables *t, uint64_t bias, const char *name)
{
	uint32_t head[2], i, hash = 0; /* head: buckets, symbols */

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (proc_mem_read(pid, t->hash, head, sizeof(head)) || head[0] == 0 ||
	    proc_mem_read(pid, t->hash + 8 + 4ull * (hash % head[0]), &i, sizeof(i)))
		return 0;
	for (unsigned n = 0; n < CHAIN_MAX && i; n++) {
		uint64_t found = symbol_address_if_named(pid, t, bias, i, name);

		if (found)
			return found;
		if (proc_mem_read(pid, t->hash + 8 + 4ull * (head[0] + (uint64_t)i), &i, sizeof(i)))
			return 0;
	}
	return 0;
}

bool proc_mem_find_symbols(pid_t pid, uint64_t base, const char *const *names, size_t nr, uint64_t *found)
{
	struct object o;
	struct tables t;

	memset(found, 0, nr * sizeof(*found));
	if (!read_elf_headers(pid, base, &o))
		return false;
	if (!o.dynamic)
		return true;
	if (!read_dynamic_tables(pid, o.bias, o.dynamic, &t))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (names[i] && t.gnu_hash)
			found[i] = find_symbol_by_gnu_hash(pid, &t, o.bias, names[i]);
		else if (names[i] && t.hash)
			found[i] = find_symbol_by_sysv_hash(pid, &t, o.bias, names[i]);
	return true;
}

uint64_t proc_mem_find_symbol(pid_t pid, uint64_t base, const char *name)
{
	uint64_t found;

	proc_mem_find_symbols(pid, base, &name, 1, &found);
	return found;
}

/* This is the head of .eh_frame_hdr, as linkers write it. Entries of two 32-bit numbers follow, sorted. The first number is where a
 * function begins, relative to the head. */
struct function_table {
	uint8_t version, frame_encoding, nr_encoding, table_encoding;
	int32_t frame;
	uint32_t nr;
};
#define FUNCTION_ENCODINGS 0x3b03u /* table_encoding: 32 bits, signed, relative to the head; nr_encoding: 32 bits, unsigned */

/* Returns the address of the function of entry i, or 0 if it cannot be read. */
static uint64_t begin_of_function(pid_t pid, uint64_t table, uint64_t i)
{
	int32_t offset;

	if (proc_mem_read(pid, table + sizeof(struct function_table) + 8 * i, &offset, sizeof(offset)))
		return 0;
	return table + (uint64_t)(int64_t)offset;
}

bool proc_mem_find_function(pid_t pid, uint64_t base, uint64_t address, uint64_t range[2])
{
	struct function_table t;
	struct object o;
	uint64_t low = 0, high;

	if (!read_elf_headers(pid, base, &o) || !o.functions || proc_mem_read(pid, o.functions, &t, sizeof(t)) || t.version != 1 ||
	    (t.table_encoding << 8 | t.nr_encoding) != FUNCTION_ENCODINGS)
		return false;
	for (high = t.nr; high > low + 1;) { /* this finds the last function that begins at address or before it */
		uint64_t middle = low + (high - low) / 2, begin = begin_of_function(pid, o.functions, middle);

		if (begin == 0)
			return false;
		if (begin <= address)
			low = middle;
		else
			high = middle;
	}
	range[0] = t.nr ? begin_of_function(pid, o.functions, low) : 0;
	range[1] = high < t.nr ? begin_of_function(pid, o.functions, high) : 0;
	return range[0] && range[0] <= address && address < range[1];
}

static uint64_t find_symbol_in_symtab(int fd, const Elf64_Shdr *table, const Elf64_Shdr *texts, const char *name)
{
	Elf64_Sym *s = malloc(SYMBOLS_AT_A_TIME * sizeof(*s));
	char *text = NULL;
	uint64_t found = 0, nr = table->sh_size / sizeof(*s);

	if (table->sh_size <= SYMTAB_BYTES_MAX && texts->sh_size && texts->sh_size <= STRINGS_BYTES_MAX)
		text = malloc(texts->sh_size + 1);
	if (!s || !text || pread(fd, text, texts->sh_size, (off_t)texts->sh_offset) != (ssize_t)texts->sh_size)
		nr = 0;
	else
		text[texts->sh_size] = 0;
	for (uint64_t i = 0; i < nr && !found; i += SYMBOLS_AT_A_TIME) {
		uint64_t n = nr - i < SYMBOLS_AT_A_TIME ? nr - i : SYMBOLS_AT_A_TIME;

		if (pread(fd, s, n * sizeof(*s), (off_t)(table->sh_offset + i * sizeof(*s))) != (ssize_t)(n * sizeof(*s)))
			break;
		for (uint64_t k = 0; k < n && !found; k++)
			if (s[k].st_shndx != SHN_UNDEF && s[k].st_name < texts->sh_size && strcmp(text + s[k].st_name, name) == 0)
				found = s[k].st_value;
	}
	free(s);
	free(text);
	return found;
}

uint64_t proc_mem_find_program_symbol(pid_t pid, uint64_t base, const char *name)
{
	char path[64];
	uint64_t value = 0;
	struct object o;
	Elf64_Shdr *sh = NULL;
	Elf64_Ehdr h;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/exe", proc_mem_number_in_proc((uint32_t)pid));
	fd = regular_file_open(path);
	if (fd < 0 || !read_elf_headers(pid, base, &o) || pread(fd, &h, sizeof(h), 0) != sizeof(h) || h.e_shentsize != sizeof(*sh) ||
	    h.e_shnum == 0 || h.e_shnum > SECTIONS_MAX)
		goto out;
	sh = malloc(h.e_shnum * sizeof(*sh));
	if (!sh || pread(fd, sh, h.e_shnum * sizeof(*sh), (off_t)h.e_shoff) != (ssize_t)(h.e_shnum * sizeof(*sh)))
		goto out;
	for (int i = 0; i < h.e_shnum && !value; i++)
		if (sh[i].sh_type == SHT_SYMTAB && sh[i].sh_link < h.e_shnum)
			value = find_symbol_in_symtab(fd, &sh[i], &sh[sh[i].sh_link], name);
out:
	free(sh);
	if (fd >= 0)
		close(fd);
	return value ? value + o.bias : 0;
}
