/* SPDX-License-Identifier: MIT */
/* A hash table (known) has the pages that need not be read. These are pages with registered code, and those in which a sample was noted
 * before, whether they were read or turned out to be of a file. Larger registered ranges are kept as areas. */
#include "agent/recorder/jit_files/page_reader.h"

#include "agent/recorder/jit_files/jitdump.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/mapping_kind.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BITS 12
#define PAGE_BYTES (1u << PAGE_BITS)
#define KNOWN_FIRST 4096u
#define KNOWN_MAX (1u << 21)	       /* maximum number of slots, a power of two; when half are in use, no further page is read */
#define ANNOUNCED_BYTES_MAX (64u << 20) /* a larger registered range is a whole code cache and not code, and is ignored */
#define ANNOUNCED_PAGES_MAX 16u	       /* maximum number of pages of code that is put into the table; larger code becomes an area */
#define AREAS_MAX 1024u		       /* maximum number of areas, beyond which the oldest is forgotten */
#define WANTED_MAX 1024u	       /* maximum number of pages between two drains */
#define DRAIN_NS 100000000u	       /* least interval of drains, which look through the maps of processes */
#define READ_MAX 4096u		       /* maximum number of pages in one recording: 16 MiB */

struct wanted {
	uint32_t pid;
	uint64_t page;
};

struct area { /* registered code of many pages, [first, last] */
	uint32_t pid;
	uint64_t first, last;
};

struct page_reader {
	uint64_t *known; /* hash table of key_of_page(); 0: free */
	uint32_t nr_known, capacity, nr_wanted, nr_read;
	uint64_t drained_ns;
	struct wanted wanted[WANTED_MAX];
	struct area area[AREAS_MAX];
	uint32_t nr_areas, next_area;
};

struct page_reader *page_reader_create(void)
{
	struct page_reader *r = calloc(1, sizeof(*r));

	if (r) {
		r->capacity = KNOWN_FIRST;
		r->known = calloc(r->capacity, sizeof(*r->known));
	}
	if (r && !r->known) {
		free(r);
		r = NULL;
	}
	return r;
}

void page_reader_destroy(struct page_reader *r)
{
	if (r)
		free(r->known);
	free(r);
}

/* Returns a nonzero key of the page and its process.  On x86-64, user addresses have 47 bits, so pages have 35, and Linux's PIDs have
 * 22. */
static uint64_t key_of_page(uint32_t pid, uint64_t page)
{
	return 1 + ((uint64_t)pid << 36 | (page & ((1ull << 36) - 1)));
}

static uint64_t *slot_of_page_key(const struct page_reader *r, uint64_t key)
{
	uint32_t at = (uint32_t)hash_pair(key, 0) & (r->capacity - 1);

	while (r->known[at] && r->known[at] != key)
		at = (at + 1) & (r->capacity - 1);
	return &r->known[at];
}

/* Moves all known pages into a table of that capacity, except those of pid (0: no exception).  Returns false if memory runs out, and then
 * the table stays as it is. */
static bool rebuild_known_pages(struct page_reader *r, uint32_t capacity, uint32_t pid)
{
	uint64_t *before = r->known, *after = calloc(capacity, sizeof(*after));
	uint32_t nr = r->capacity;

	if (!after)
		return false;
	r->known = after;
	r->capacity = capacity;
	r->nr_known = 0;
	for (uint32_t i = 0; i < nr; i++)
		if (before[i] && (!pid || (before[i] - 1) >> 36 != pid)) {
			*slot_of_page_key(r, before[i]) = before[i];
			r->nr_known++;
		}
	free(before);
	return true;
}

/* Returns false if the page was known, or there is no room to remember it. */
static bool add_known_page(struct page_reader *r, uint32_t pid, uint64_t page)
{
	uint64_t key = key_of_page(pid, page), *at = slot_of_page_key(r, key);

	if (*at)
		return false;
	if (2 * (r->nr_known + 1) > r->capacity) {
		if (r->capacity == KNOWN_MAX || !rebuild_known_pages(r, 2 * r->capacity, 0))
			return false;
		at = slot_of_page_key(r, key);
	}
	*at = key;
	r->nr_known++;
	return true;
}

/* A host may register any number of ranges of any size, so the cost of each is limited to ANNOUNCED_PAGES_MAX insertions. */
void page_reader_note_code(struct page_reader *r, uint32_t pid, uint64_t address, uint64_t bytes)
{
	uint64_t first = address >> PAGE_BITS, last;

	if (!r || !bytes || bytes > ANNOUNCED_BYTES_MAX || bytes > UINT64_MAX - address)
		return;
	last = (address + bytes - 1) >> PAGE_BITS;
	if (last - first < ANNOUNCED_PAGES_MAX) {
		for (uint64_t page = first; page <= last; page++)
			add_known_page(r, pid, page);
		return;
	}
	r->area[r->next_area] = (struct area){ pid, first, last };
	r->next_area = (r->next_area + 1) % AREAS_MAX;
	r->nr_areas += r->nr_areas < AREAS_MAX;
}

static bool is_page_in_announced_area(const struct page_reader *r, uint32_t pid, uint64_t page)
{
	for (uint32_t i = 0; i < r->nr_areas; i++)
		if (r->area[i].pid == pid && page >= r->area[i].first && page <= r->area[i].last)
			return true;
	return false;
}

void page_reader_note_sample(struct page_reader *r, uint32_t pid, uint64_t address)
{
	uint64_t page = address >> PAGE_BITS;

	if (r && address && !*slot_of_page_key(r, key_of_page(pid, page)) && r->nr_wanted < WANTED_MAX && r->nr_read < READ_MAX &&
	    add_known_page(r, pid, page) && !is_page_in_announced_area(r, pid, page))
		r->wanted[r->nr_wanted++] = (struct wanted){ pid, page };
}

void page_reader_forget_process(struct page_reader *r, uint32_t pid)
{
	bool some = false;

	for (uint32_t i = 0; r && i < r->nr_areas; i++)
		if (r->area[i].pid == pid)
			r->area[i].pid = 0;
	for (uint32_t i = 0; r && i < r->capacity && !some; i++)
		some = r->known[i] && (r->known[i] - 1) >> 36 == pid;
	if (some)
		rebuild_known_pages(r, r->capacity, pid);
}

struct reading {
	struct page_reader *reader;
	struct trace_writer *w;
	uint32_t first, nr; /* the wanted pages of one process */
};

static void write_page_code(struct page_reader *r, struct trace_writer *w, const struct wanted *p)
{
	unsigned char bytes[PAGE_BYTES];

	if (r->nr_read == READ_MAX || proc_mem_read((pid_t)p->pid, p->page << PAGE_BITS, bytes, sizeof(bytes)))
		return;
	r->nr_read++;
	TRACE_PUT(w, code_bytes, jitdump_clock_now().ns, p->pid, 0, .address = p->page << PAGE_BITS, .loaded_ns = TRACE_NOT_LOADED,
		  .code = { bytes, sizeof(bytes) });
}

static bool is_generated_mapping(const struct proc_mapping *m)
{
	return (m->prot & PROT_EXEC) && mapping_may_hold_generated_code(m->path, strlen(m->path), m->prot, m->shared);
}

static int read_wanted_pages_in_mapping(void *context, const struct proc_mapping *m)
{
	const struct reading *g = context;

	for (uint32_t i = g->first; is_generated_mapping(m) && i < g->first + g->nr; i++) {
		const struct wanted *p = &g->reader->wanted[i];

		if (p->page << PAGE_BITS >= m->start && p->page << PAGE_BITS < m->end)
			write_page_code(g->reader, g->w, p);
	}
	return 0;
}

static int compare_wanted_by_process(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : x->page < y->page ? -1 : x->page > y->page;
}

void page_reader_drain(struct page_reader *r, struct trace_writer *w, bool last)
{
	uint64_t now_ns;

	if (!r || !r->nr_wanted)
		return;
	now_ns = jitdump_clock_now().ns;
	if (!last && now_ns - r->drained_ns < DRAIN_NS)
		return;
	r->drained_ns = now_ns;
	qsort(r->wanted, r->nr_wanted, sizeof(r->wanted[0]), compare_wanted_by_process);
	for (uint32_t first = 0, end; first < r->nr_wanted; first = end) {
		pid_t thread;

		for (end = first + 1; end < r->nr_wanted && r->wanted[end].pid == r->wanted[first].pid; end++)
			;
		thread = proc_mem_living_thread((pid_t)r->wanted[first].pid);
		if (thread)
			proc_each_mapping(thread, read_wanted_pages_in_mapping, &(struct reading){ r, w, first, end - first });
	}
	r->nr_wanted = 0;
}
