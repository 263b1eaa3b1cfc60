/* SPDX-License-Identifier: MIT */
#include "images.h"

#include "elf_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_SHIFT 12
#define SEEN_PAGES 1024u /* per process: a page is looked up again when another one took its slot */
#define PENDING_MAX 256u
#define PENDING_TRIES 100u /* drains */
#define STACK_EVERY 4u	   /* of how many samples one has its stack looked through */

struct image {
	struct image *next;
	int fd; /* -1: not opened */
	bool needed;
	bool vdso;
	int error;
	char path[]; /* as the mapping has it */
};

struct mapping {
	uint64_t start, end;
	struct image *image;
};

struct pending {
	uint64_t address;
	unsigned tries;
};

struct process {
	struct process *next;
	uint32_t pid;
	uint32_t nr, capacity;
	struct mapping *mapping; /* sorted by start, disjoint */
	uint64_t seen[SEEN_PAGES];
	uint32_t nr_pending;
	unsigned nr_samples;
	struct pending pending[PENDING_MAX];
};

#define BUCKETS 4096u
struct images {
	struct process *process[BUCKETS];
	struct process *last; /* most samples in a row come from one process */
	struct image *image[BUCKETS];
};

int images_create(struct images **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void images_destroy(struct images *i)
{
	for (unsigned b = 0; b < BUCKETS; b++) {
		for (struct image *next, *m = i->image[b]; m; m = next) {
			next = m->next;
			if (m->fd >= 0)
				close(m->fd);
			free(m);
		}
		while (i->process[b])
			images_forget(i, i->process[b]->pid);
	}
	free(i);
}

static struct process **process_slot(struct images *i, uint32_t pid)
{
	struct process **p = &i->process[pid % BUCKETS];

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

/* NULL only without memory. */
static struct process *get_process(struct images *i, uint32_t pid)
{
	struct process **slot;

	if (i->last && i->last->pid == pid)
		return i->last;
	slot = process_slot(i, pid);
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return NULL;
		(*slot)->pid = pid;
	}
	return i->last = *slot;
}

void images_forget(struct images *i, uint32_t pid)
{
	struct process **slot = process_slot(i, pid), *p = *slot;

	if (!p)
		return;
	if (i->last == p)
		i->last = NULL;
	*slot = p->next;
	free(p->mapping);
	free(p);
}

static struct image *get_image(struct images *i, const char *path, size_t bytes)
{
	uint32_t hash = 2166136261u;
	struct image **slot;

	for (size_t n = 0; n < bytes; n++)
		hash = (hash ^ (unsigned char)path[n]) * 16777619u;
	slot = &i->image[hash % BUCKETS];
	while (*slot && (strncmp((*slot)->path, path, bytes) || (*slot)->path[bytes]))
		slot = &(*slot)->next;
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot) + bytes + 1);
		if (!*slot)
			return NULL;
		memcpy((*slot)->path, path, bytes);
		(*slot)->fd = -1;
		(*slot)->vdso = strcmp((*slot)->path, "[vdso]") == 0;
	}
	return *slot;
}

/* First mapping that ends behind address. */
static uint32_t lower_bound(const struct process *p, uint64_t address)
{
	uint32_t low = 0, high = p->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void images_map(struct images *i, uint32_t pid, uint64_t address, uint64_t bytes, const char *path, size_t path_bytes)
{
	struct process *p = get_process(i, pid);
	struct mapping new = { address, address + bytes, NULL };
	uint32_t from, to;

	path_bytes = strnlen(path, path_bytes);
	if (!p || new.end < address || bytes == 0)
		return;
	if (path_bytes && (path[0] == '/' || memcmp(path, "[vdso]", path_bytes < 6 ? path_bytes : 6) == 0))
		new.image = get_image(i, path, path_bytes);
	if (p->nr + 2 > p->capacity) {
		uint32_t capacity = p->capacity ? 2 * p->capacity : 64;
		struct mapping *bigger = realloc(p->mapping, capacity * sizeof(*bigger));

		if (!bigger)
			return;
		p->mapping = bigger;
		p->capacity = capacity;
	}
	from = lower_bound(p, address);
	/* what it overlaps keeps its ends */
	if (from < p->nr && p->mapping[from].start < address) {
		struct mapping behind = p->mapping[from];

		p->mapping[from].end = address;
		from++;
		if (behind.end > new.end) {
			behind.start = new.end;
			memmove(p->mapping + from + 1, p->mapping + from, (p->nr - from) * sizeof(new));
			p->mapping[from] = behind;
			p->nr++;
		}
	}
	for (to = from; to < p->nr && p->mapping[to].end <= new.end; to++)
		;
	if (to < p->nr && p->mapping[to].start < new.end)
		p->mapping[to].start = new.end;
	if (p->nr + 1 > p->capacity)
		return;
	memmove(p->mapping + from + 1, p->mapping + to, (p->nr - to) * sizeof(new));
	p->mapping[from] = new;
	p->nr += 1 - (to - from);
	memset(p->seen, 0, sizeof(p->seen));
}

void images_fork(struct images *i, uint32_t ppid, uint32_t pid)
{
	struct process *parent = *process_slot(i, ppid), *child = get_process(i, pid);

	if (!parent || !child || parent == child || child->nr)
		return;
	child->mapping = malloc((parent->nr + 2) * sizeof(struct mapping));
	if (!child->mapping)
		return;
	memcpy(child->mapping, parent->mapping, parent->nr * sizeof(struct mapping));
	child->nr = parent->nr;
	child->capacity = parent->nr + 2;
}

static void need(struct image *m, uint32_t pid)
{
	char path[4200];

	if (m->needed)
		return;
	m->needed = true;
	if (m->vdso)
		return;
	/* the process's own view first: it may be in a container */
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, m->path);
	m->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (m->fd < 0)
		m->fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (m->fd < 0)
		m->error = errno;
}

static bool look_up(struct process *p, uint64_t address)
{
	uint32_t at = lower_bound(p, address);

	if (at == p->nr || p->mapping[at].start > address)
		return false;
	if (p->mapping[at].image)
		need(p->mapping[at].image, p->pid);
	return true;
}

static void touch(struct process *p, uint64_t address, bool must)
{
	uint64_t page = address >> PAGE_SHIFT, *slot = &p->seen[page % SEEN_PAGES];

	if (*slot == page)
		return;
	*slot = page;
	if (!look_up(p, address) && must && p->nr_pending < PENDING_MAX)
		p->pending[p->nr_pending++] = (struct pending){ address, 0 };
}

void images_sample(struct images *i, const struct sample_seen *seen)
{
	struct process *p = get_process(i, seen->pid);

	if (!p)
		return;
	if (seen->user)
		touch(p, seen->ip, true);
	if (p->nr_samples++ % STACK_EVERY == 0 && p->nr) {
		uint64_t low = p->mapping[0].start, span = p->mapping[p->nr - 1].end - low;

		for (uint32_t n = 0; n + 8 <= seen->stack_bytes; n += 8) {
			uint64_t word;

			memcpy(&word, seen->stack + n, 8);
			if (word - low < span)
				touch(p, word, false);
		}
	}
}

void images_settle(struct images *i)
{
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct process *p = i->process[b]; p; p = p->next) {
			uint32_t kept = 0;

			for (uint32_t n = 0; n < p->nr_pending; n++)
				if (!look_up(p, p->pending[n].address) && ++p->pending[n].tries < PENDING_TRIES)
					p->pending[kept++] = p->pending[n];
			p->nr_pending = kept;
		}
}

static void write_image(struct image *m, struct trace_writer *w, uint64_t time_ns)
{
	struct elf_parts parts = { 0 };
	char key[2 * ELF_BUILD_ID_MAX + 1];
	const char *reason = "";
	int ret = m->vdso ? elf_parts_read_vdso(&parts) : m->fd < 0 ? -m->error : elf_parts_read(m->fd, &parts);

	if (ret)
		reason = ret == -EBADMSG ? "not an ELF file that we can read" : strerror(-ret);
	else if (parts.left_out)
		reason = parts.left_out;
	for (uint32_t n = 0; n < parts.build_id_bytes; n++)
		snprintf(key + 2 * n, 3, "%02x", parts.build_id[n]);
	trace_record_begin(w, TRACE_CHUNK_FILES, TRACE_IMAGE_FILE, time_ns, 0, 0, F_COUNT(image_file));
	if (parts.build_id_bytes)
		trace_record_text(w, key, 2 * parts.build_id_bytes);
	else
		trace_record_text(w, m->path, strlen(m->path));
	trace_record_text(w, m->path, strlen(m->path));
	trace_record_bytes(w, parts.build_id, parts.build_id_bytes);
	trace_record_u64(w, parts.file_bytes);
	trace_record_text(w, reason, strlen(reason));
	trace_record_array(w, parts.nr);
	for (uint32_t n = 0; n < parts.nr; n++) {
		trace_record_array(w, 2);
		trace_record_u64(w, parts.part[n].file_offset);
		trace_record_bytes(w, parts.part[n].bytes, parts.part[n].nr);
	}
	trace_record_end(w);
	trace_writer_flush(w, TRACE_CHUNK_FILES);
	elf_parts_free(&parts);
}

void images_write(struct images *i, struct trace_writer *w, uint64_t time_ns)
{
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct image *m = i->image[b]; m; m = m->next)
			if (m->needed)
				write_image(m, w, time_ns);
}
