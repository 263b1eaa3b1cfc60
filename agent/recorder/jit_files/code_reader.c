/* SPDX-License-Identifier: MIT */
/*
 * The named ranges of a process are in a hash table by the pages that they touch, the newest first.  A name may come after the samples, as
 * JITs buffer the lines of their maps, so sampled addresses without a range are kept (struct space.waiting), and looked up again when there
 * are new ranges.
 */
#include "agent/recorder/jit_files/code_reader.h"

#include "agent/recorder/jit_files/jitdump.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 12
#define RANGE_BYTES_MAX (1u << 20) /* a larger range is a whole code cache and not a function, and is ignored */
#define NODES_MAX (8u << 20) /* limit of nodes, and of ranges */
#define READ_BYTES_MAX (64u << 20) /* maximum number of bytes read in one recording */
#define SMALL_MAX 16384u /* maximum number of objects up to CODE_SMALL_BYTES read without a sample in one recording */
#define SPACES_MAX 256u
#define WAITING_MAX 4096u /* size of the table of sampled addresses without a range, a power of two */
#define RECENT 4096u	  /* size of the table of addresses that were looked up, a power of two */

struct range {
	uint64_t address, time_ns;
	uint32_t bytes;
	bool wanted;
};

struct node { /* element of the hash table: one page that a range touches */
	uint64_t page;
	uint32_t range, next; /* indexes; next: 1 + index of the next node in the bucket, or 0 */
};

struct space {
	uint32_t pid;
	ARRAY(struct range) ranges;
	ARRAY(struct node) nodes;
	uint32_t *bucket; /* nodes.capacity buckets: 1 + index of the newest node, or 0 */
	ARRAY(uint32_t) wanted; /* indexes of ranges to read at the next drain */
	bool has_new; /* ranges were added since the waiting addresses were looked up last */
	uint64_t waiting[WAITING_MAX]; /* sampled addresses without a range; 0: free */
};

struct code_reader {
	struct space *space[SPACES_MAX];
	uint32_t nr_spaces, last;
	uint64_t read; /* number of bytes read so far */
	uint32_t nr_small;
	struct {
		uint32_t pid;
		uint64_t address;
	} recent[RECENT]; /* addresses that were looked up since the last drain with new ranges, and need not be looked up again */
	unsigned char bytes[RANGE_BYTES_MAX];
};

struct code_reader *code_reader_create(void)
{
	return calloc(1, sizeof(struct code_reader));
}

static void free_process_space(struct space *s)
{
	free(s->ranges.at);
	free(s->nodes.at);
	free(s->bucket);
	free(s->wanted.at);
	free(s);
}

void code_reader_destroy(struct code_reader *r)
{
	for (uint32_t i = 0; r && i < r->nr_spaces; i++)
		free_process_space(r->space[i]);
	free(r);
}

static struct space *find_process_space(struct code_reader *r, uint32_t pid)
{
	if (r->last < r->nr_spaces && r->space[r->last]->pid == pid)
		return r->space[r->last];
	for (uint32_t i = 0; i < r->nr_spaces; i++)
		if (r->space[i]->pid == pid) {
			r->last = i;
			return r->space[i];
		}
	return NULL;
}

void code_reader_forget_process(struct code_reader *r, uint32_t pid)
{
	struct space *s = r ? find_process_space(r, pid) : NULL;

	if (!s)
		return;
	r->space[r->last] = r->space[--r->nr_spaces];
	free_process_space(s);
	memset(r->recent, 0, sizeof(r->recent));
}

/* ---------------------------------------------------------------------------------------------------------- ranges */

static uint32_t bucket_of_page(const struct space *s, uint64_t page)
{
	return (uint32_t)hash_pair(page, 0) & (s->nodes.capacity - 1);
}

/* Inserts the nodes again in the order in which they were added, so that the newest stays the first. */
static bool rehash_nodes(struct space *s)
{
	uint32_t *bucket = calloc(s->nodes.capacity, sizeof(*bucket));

	if (!bucket)
		return false;
	for (uint32_t i = 0; i < s->nodes.nr; i++) {
		uint32_t *at = &bucket[bucket_of_page(s, s->nodes.at[i].page)];

		s->nodes.at[i].next = *at;
		*at = i + 1;
	}
	free(s->bucket);
	s->bucket = bucket;
	return true;
}

static bool add_page_node(struct space *s, uint64_t page, uint32_t range)
{
	uint32_t *at;

	if (s->nodes.nr == s->nodes.capacity) {
		uint32_t before = s->nodes.capacity;

		if (s->nodes.nr == NODES_MAX || !ARRAY_GROW(s->nodes))
			return false;
		if (!rehash_nodes(s)) {
			s->nodes.capacity = before; /* this is also the number of buckets, which has not grown */
			return false;
		}
	}
	at = &s->bucket[bucket_of_page(s, page)];
	s->nodes.at[s->nodes.nr] = (struct node){ page, range, *at };
	*at = ++s->nodes.nr;
	return true;
}

/* Returns the newest range that covers an address, or NULL. */
static struct range *find_newest_range(const struct space *s, uint64_t address)
{
	uint64_t page = address >> PAGE_BITS;

	for (uint32_t i = s->bucket ? s->bucket[bucket_of_page(s, page)] : 0; i; i = s->nodes.at[i - 1].next) {
		struct range *f = &s->ranges.at[s->nodes.at[i - 1].range];

		if (s->nodes.at[i - 1].page == page && address - f->address < f->bytes)
			return f;
	}
	return NULL;
}

static void mark_range_wanted(struct space *s, struct range *f)
{
	if (!f->wanted && s->wanted.nr < NODES_MAX)
		f->wanted = ARRAY_PUSH(s->wanted, (uint32_t)(f - s->ranges.at));
}

void code_reader_add_range(struct code_reader *r, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns)
{
	struct space *s = r ? find_process_space(r, pid) : NULL;

	if (!r || bytes == 0 || bytes > RANGE_BYTES_MAX || bytes > UINT64_MAX - address)
		return;
	if (!s) {
		s = r->nr_spaces < SPACES_MAX ? calloc(1, sizeof(*s)) : NULL;
		if (!s)
			return;
		s->pid = pid;
		r->space[r->nr_spaces++] = s;
	}
	if (s->ranges.nr == NODES_MAX || !ARRAY_GROW(s->ranges))
		return;
	s->ranges.at[s->ranges.nr] = (struct range){ address, time_ns, (uint32_t)bytes, false };
	for (uint64_t page = address >> PAGE_BITS; page <= (address + bytes - 1) >> PAGE_BITS; page++)
		if (!add_page_node(s, page, s->ranges.nr))
			break;
	s->ranges.nr++;
	s->has_new = true;
	if (bytes <= CODE_SMALL_BYTES && r->nr_small < SMALL_MAX) {
		r->nr_small++;
		mark_range_wanted(s, &s->ranges.at[s->ranges.nr - 1]);
	}
}

/* --------------------------------------------------------------------------------------------------------- samples */

void code_reader_note_sample(struct code_reader *r, uint32_t pid, uint64_t address)
{
	uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 40);
	struct range *f;
	struct space *s;

	if (!r || !r->nr_spaces || !address)
		return;
	if (r->recent[at % RECENT].pid == pid && r->recent[at % RECENT].address == address)
		return;
	r->recent[at % RECENT].pid = pid;
	r->recent[at % RECENT].address = address;
	s = find_process_space(r, pid);
	if (!s)
		return;
	f = find_newest_range(s, address);
	if (f)
		mark_range_wanted(s, f);
	else
		s->waiting[at % WAITING_MAX] = address; /* this may replace another address, which is looked up when it is sampled again */
}

static void retry_waiting_addresses(struct code_reader *r, struct space *s)
{
	if (!s->has_new)
		return;
	s->has_new = false;
	memset(r->recent, 0, sizeof(r->recent)); /* addresses that were looked up may be in new ranges now */
	for (uint32_t i = 0; i < WAITING_MAX; i++) {
		struct range *f = s->waiting[i] ? find_newest_range(s, s->waiting[i]) : NULL;

		if (f) {
			mark_range_wanted(s, f);
			s->waiting[i] = 0;
		}
	}
}

static void write_range_code(struct code_reader *r, const struct space *s, const struct range *f, struct trace_writer *w)
{
	uint64_t now_ns = jitdump_clock_now().ns;

	/* if another range has the address by now, the memory has other code */
	if (find_newest_range(s, f->address) != f || r->read + f->bytes > READ_BYTES_MAX ||
	    proc_mem_read((pid_t)s->pid, f->address, r->bytes, f->bytes))
		return;
	r->read += f->bytes;
	TRACE_PUT(w, code_bytes, now_ns, s->pid, 0, .address = f->address, .loaded_ns = f->time_ns, .code = { r->bytes, f->bytes });
}

void code_reader_drain(struct code_reader *r, struct trace_writer *w)
{
	for (uint32_t i = 0; r && i < r->nr_spaces; i++) {
		struct space *s = r->space[i];

		retry_waiting_addresses(r, s);
		for (uint32_t n = 0; n < s->wanted.nr; n++)
			write_range_code(r, s, &s->ranges.at[s->wanted.at[n]], w);
		s->wanted.nr = 0;
	}
}
