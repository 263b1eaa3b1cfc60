/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/images.h"

#include "agent/recorder/images/debuginfod.h"
#include "agent/recorder/images/image_files.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/mapping_kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEN_PAGES 1024u /* slots per process; a page is looked up again if another one took its slot */
#define COUNTED_LINES 256u /* slots per process for lines with samples, used in the same way */
#define PENDING_MAX 256u
#define PENDING_TRIES 100u /* drains after which an address without a mapping is given up */
#define MAPPINGS_MAX (1u << 20) /* per process; more than the kernel's default limit of mappings */
#define ENDED_SETTLES 200u /* drains for which an ended process is remembered, because rings are drained one after another */

struct pending {
	uint64_t address;
	unsigned tries;
};

struct counted_line {
	uint64_t line;
	uint32_t *samples; /* NULL: a free slot */
};

/* These are caches of one process, which take 12 KiB. They are freed when it ends, because there may be thousands of short processes, and
 * when its mappings change, because they are not valid any more. */
struct caches {
	uint64_t seen[SEEN_PAGES];
	struct counted_line counted[COUNTED_LINES];
};

struct process {
	struct process *next;
	uint32_t pid;
	uint64_t exec_ns; /* time of the last exec; no mapping is older */
	ARRAY(struct image_mapping) mappings; /* sorted by start, disjoint */
	struct caches *caches; /* NULL after the end, without memory, and from a change of mappings to the next sample */
	unsigned ended; /* 1 + number of drains since its end; 0: it lives */
	uint64_t end_ns;
	ARRAY(struct pending) pending;
};

#define BUCKETS 4096u
struct images {
	const struct name_source_recording *recording;
	struct image_files files;
	struct process *process[BUCKETS];
	bool unsettled; /* an address waits for its mapping, or a process has exited */
	struct process *last; /* most samples in a row come from one process */
	struct process *late; /* the last sampled process without caches of its own, which uses late_caches */
	struct caches late_caches;
	struct image *image[BUCKETS];
	uint32_t elsewhere; /* samples in no image, or in one whose samples are not counted */
};

static void destroy(void *images);

static int create(const struct name_source_recording *r, void **source)
{
	const struct name_source_options *o = r->options;
	struct images *i = calloc(1, sizeof(*i));

	*source = NULL;
	if (!i)
		return -ENOMEM;
	i->recording = r;
	image_files_init(&i->files, o->stack_bytes > 0);
	i->files.servers = debuginfod_create(o->debuginfod);
	i->files.past = o->past_end_ns;
	i->files.foreign = o->past_foreign;
	i->files.other_kernel = o->past_end_ns && !o->past_same_kernel;
	if (images_keep_code(i, o->image_code_bytes)) {
		destroy(i);
		return -ENOMEM;
	}
	*source = i;
	return 0;
}

int images_keep_code(struct images *i, uint64_t limit_bytes)
{
	if (!limit_bytes)
		return 0;
	i->files.code = image_code_create(limit_bytes);
	return i->files.code ? 0 : -ENOMEM;
}

void images_set_limit(struct images *i, bool (*is_over)(void *context), void *context)
{
	i->files.is_over = is_over;
	i->files.over_context = context;
	if (i->files.servers)
		debuginfod_set_limit(i->files.servers, is_over, context);
}

static struct process **slot_of_process(struct images *i, uint32_t pid)
{
	struct process **p = &i->process[pid % BUCKETS];

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

/* Finds or adds a process.  Returns NULL only if memory runs out. */
static struct process *get_process(struct images *i, uint32_t pid)
{
	struct process **slot;

	if (i->last && i->last->pid == pid)
		return i->last;
	slot = slot_of_process(i, pid);
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return NULL;
		(*slot)->pid = pid;
	}
	return i->last = *slot;
}

static void drop_caches(struct images *i, struct process *p)
{
	if (i->late == p)
		i->late = NULL;
	free(p->caches);
	p->caches = NULL;
}

static void forget_process(struct images *i, uint32_t pid)
{
	struct process **slot = slot_of_process(i, pid), *p = *slot;

	if (!p)
		return;
	if (i->last == p)
		i->last = NULL;
	*slot = p->next;
	drop_caches(i, p);
	free(p->pending.at);
	free(p->mappings.at);
	free(p);
}

static void destroy(void *images)
{
	struct images *i = images;

	for (unsigned b = 0; b < BUCKETS; b++) {
		for (struct image *next, *m = i->image[b]; m; m = next) {
			next = m->next;
			if (m->fd >= 0)
				close(m->fd);
			free(m->seen);
			free(m->samples);
			free(m);
		}
		while (i->process[b])
			forget_process(i, i->process[b]->pid);
	}
	image_files_fini(&i->files);
	free(i);
}

/* Rings of processors are drained one after the other, so mappings of the new program may be known already, and stay. */
static void note_exec(void *images, const struct kernel_comm *c, uint64_t time_ns)
{
	struct process *p = get_process(images, c->pid);
	uint32_t kept = 0;

	if (!p || time_ns < p->exec_ns)
		return;
	p->exec_ns = time_ns;
	for (uint32_t n = 0; n < p->mappings.nr; n++)
		if (p->mappings.at[n].time_ns >= time_ns)
			p->mappings.at[kept++] = p->mappings.at[n];
	p->mappings.nr = kept;
	drop_caches(images, p);
}

/* Samples of an ended process, and even the record of its fork, may come from another ring after its end. */
static void note_exit(void *images, uint32_t pid, uint64_t time_ns)
{
	struct images *i = images;
	struct process *p = *slot_of_process(i, pid);

	if (p && !p->ended) {
		p->ended = 1;
		p->end_ns = time_ns;
		drop_caches(i, p);
	}
	i->unsettled = true;
}

/*
 * May an image and a mapping be of one file, of which one is known by its build id and the other one by its inode?  They count
 * as one if a guest reported one of them, or if neither inode is known.  Otherwise the build id of the file that was opened for the image
 * decides.  If it is unknown they count as two images, because one path may lead to several files: in the roots of containers, or when a
 * file was replaced.
 */
static bool file_has_build_id_of(const struct image *i, const struct mapping *m)
{
	if (i->by_guest || m->by_guest || (!file_identity_is_known(&i->identity) && !file_identity_is_known(&m->file)))
		return true;
	return m->build_id_bytes && build_ids_are_same(i->own_id, i->own_id_bytes, m->build_id, m->build_id_bytes);
}

/* Is the mapping one of this image?  A file that replaced another one under the same path is another image. */
static bool image_matches_mapping(const struct image *i, const struct mapping *m)
{
	if (strncmp(i->path, m->path, m->path_bytes) || i->path[m->path_bytes])
		return false;
	if (m->build_id_bytes && i->build_id_bytes)
		return build_ids_are_same(i->build_id, i->build_id_bytes, m->build_id, m->build_id_bytes);
	if (!m->build_id_bytes && !i->build_id_bytes)
		return file_identity_may_be_same(&i->identity, &m->file);
	return file_identity_may_be_same(&i->identity, &m->file) && file_has_build_id_of(i, m);
}

static struct image *get_image_of_mapping(struct images *i, const struct mapping *m)
{
	uint32_t hash = 2166136261u;
	struct image **slot, *image;

	for (size_t n = 0; n < m->path_bytes; n++)
		hash = (hash ^ (unsigned char)m->path[n]) * 16777619u;
	slot = &i->image[hash % BUCKETS];
	while (*slot && !image_matches_mapping(*slot, m))
		slot = &(*slot)->next;
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot) + m->path_bytes + 1);
		if (!*slot)
			return NULL;
		memcpy((*slot)->path, m->path, m->path_bytes);
		(*slot)->fd = -1;
		(*slot)->vdso = strcmp((*slot)->path, "[vdso]") == 0;
		(*slot)->by_guest = m->by_guest;
	}
	image = *slot;
	image->by_guest &= m->by_guest;
	if (m->build_id_bytes && !image->build_id_bytes) {
		memcpy(image->build_id, m->build_id, m->build_id_bytes);
		image->build_id_bytes = (uint32_t)m->build_id_bytes;
	}
	if (!file_identity_is_known(&image->identity))
		image->identity = m->file;
	return image;
}

/* Returns the index of the first mapping that ends after address. */
static uint32_t index_of_mapping_from(const struct process *p, uint64_t address)
{
	uint32_t low = 0, high = p->mappings.nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->mappings.at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Is the mapping known already, with this file?  A guest knows the file by the path that its loader used, and perhaps by its build id.  The
 * kernel may have reported the same mapping with more about the file, which is kept. */
static bool mapping_is_known_already(const struct process *p, const struct mapping *m)
{
	uint32_t at = index_of_mapping_from(p, m->address);
	const struct image_mapping *known = at < p->mappings.nr ? &p->mappings.at[at] : NULL;
	const struct image *i = known && known->start == m->address && known->end == m->address + m->bytes ? known->image : NULL;

	if (!i)
		return false;
	if (m->build_id_bytes)
		return m->by_guest && build_ids_are_same(i->build_id, i->build_id_bytes, m->build_id, m->build_id_bytes);
	return !file_identity_is_known(&m->file) && image_matches_mapping(i, m);
}

/* Inserts a mapping, which replaces what it overlaps.  Does nothing if there are too many, or if memory runs out. */
static void insert(struct process *p, struct image_mapping new)
{
	const uint64_t address = new.start;
	uint32_t from, to;

	if (p->mappings.nr >= MAPPINGS_MAX || !ARRAY_RESERVE(p->mappings, 2))
		return;
	from = index_of_mapping_from(p, address);
	/* A mapping that is overlapped keeps its parts outside of the new one. */
	if (from < p->mappings.nr && p->mappings.at[from].start < address) {
		struct image_mapping behind = p->mappings.at[from];

		p->mappings.at[from].end = address;
		from++;
		if (behind.end > new.end) {
			behind.start = new.end;
			memmove(p->mappings.at + from + 1, p->mappings.at + from, (p->mappings.nr - from) * sizeof(new));
			p->mappings.at[from] = behind;
			p->mappings.nr++;
		}
	}
	for (to = from; to < p->mappings.nr && p->mappings.at[to].end <= new.end; to++)
		;
	if (to < p->mappings.nr && p->mappings.at[to].start < new.end)
		p->mappings.at[to].start = new.end;
	memmove(p->mappings.at + from + 1, p->mappings.at + to, (p->mappings.nr - to) * sizeof(new));
	p->mappings.at[from] = new;
	p->mappings.nr += 1 - (to - from);
}

/* Inserts a mapping without a file where no image is mapped.  Text that a program has moved into large pages is still its image's. */
static void insert_beside_images(struct process *p, struct image_mapping new)
{
	const uint64_t end = new.end;

	while (new.start < end) {
		uint32_t at = index_of_mapping_from(p, new.start);
		struct image_mapping image = { end, end, 0, 0, NULL };

		while (at < p->mappings.nr && !p->mappings.at[at].image)
			at++;
		if (at < p->mappings.nr && p->mappings.at[at].start < end)
			image = p->mappings.at[at];
		new.end = image.start;
		if (new.start < new.end)
			insert(p, new);
		new.start = image.end;
	}
}

static void note_mapping(void *images, const struct mapping *m, uint64_t time_ns)
{
	struct images *i = images;
	struct process *p = get_process(i, m->pid);
	struct mapping of = *m;
	struct image_mapping new = { m->address, m->address + m->bytes, m->offset - m->address, time_ns, NULL };

	of.path_bytes = strnlen(m->path, m->path_bytes);
	if (of.build_id_bytes > IMAGE_BUILD_ID_MAX)
		of.build_id_bytes = 0;
	if (!p || time_ns < p->exec_ns || new.end < new.start || m->bytes == 0 || mapping_is_known_already(p, &of))
		return;
	if (mapping_kind(of.path, of.path_bytes) == MAPPING_FILE || (of.path_bytes == 6 && memcmp(of.path, "[vdso]", 6) == 0))
		new.image = get_image_of_mapping(i, &of);
	if (mapping_kind(of.path, of.path_bytes) == MAPPING_ANONYMOUS)
		insert_beside_images(p, new);
	else
		insert(p, new);
	drop_caches(i, p);
}

static void note_fork(void *images, uint32_t ppid, uint32_t pid, uint64_t time_ns)
{
	struct images *i = images;
	struct process *parent = *slot_of_process(i, ppid), *child = *slot_of_process(i, pid);

	if (child && child->ended && child->end_ns < time_ns)
		forget_process(i, pid); /* the process number was used again */
	child = get_process(i, pid);
	if (!parent || !parent->mappings.nr || !child || parent == child || child->mappings.nr)
		return;
	if (!ARRAY_RESERVE(child->mappings, parent->mappings.nr))
		return;
	memcpy(child->mappings.at, parent->mappings.at, parent->mappings.nr * sizeof(*child->mappings.at));
	child->mappings.nr = parent->mappings.nr;
}

static void mark_page_seen(struct image *m, uint64_t page)
{
	if (m->seen && page <= m->bytes >> IMAGE_PAGE_SHIFT)
		m->seen[page / 64] |= 1ull << page % 64;
}

static bool mark_address_if_mapped(struct images *i, struct process *p, uint64_t address)
{
	uint32_t at = index_of_mapping_from(p, address);

	if (at >= p->mappings.nr || p->mappings.at[at].start > address)
		return false;
	if (p->mappings.at[at].image) {
		image_files_need(&i->files, &p->mappings.at[at], p->pid);
		mark_page_seen(p->mappings.at[at].image, (address + p->mappings.at[at].to_file) >> IMAGE_PAGE_SHIFT);
	}
	return true;
}

/* Returns the caches of a process. An ended process uses the shared ones, because it has only few samples left in rings. So does a process
 * for which memory runs out. */
static struct caches *get_caches(struct images *i, struct process *p)
{
	if (!p->caches && !p->ended)
		p->caches = calloc(1, sizeof(*p->caches));
	if (p->caches)
		return p->caches;
	if (i->late != p)
		memset(&i->late_caches, 0, sizeof(i->late_caches));
	i->late = p;
	return &i->late_caches;
}

static void note_seen_address(struct images *i, struct process *p, uint64_t address, bool must)
{
	uint64_t page = address >> IMAGE_PAGE_SHIFT, *slot = &get_caches(i, p)->seen[page % SEEN_PAGES];

	if (*slot == page)
		return;
	*slot = page;
	if (!mark_address_if_mapped(i, p, address) && must && p->pending.nr < PENDING_MAX && ARRAY_GROW(p->pending)) {
		p->pending.at[p->pending.nr++] = (struct pending){ address, 0 };
		i->unsettled = true;
	}
}

/* Notes the address of a sample, and counts the sample in its line, if code is wanted. */
static void count_sample_of_line(struct images *i, struct process *p, uint64_t address)
{
	uint64_t line = address >> IMAGE_CODE_LINE_SHIFT;
	struct counted_line *slot = &get_caches(i, p)->counted[line % COUNTED_LINES];
	struct image *m;
	uint32_t at;

	if (slot->samples && slot->line == line) {
		++*slot->samples;
		return;
	}
	note_seen_address(i, p, address, true);
	if (!i->files.code)
		return;
	at = index_of_mapping_from(p, address);
	if (at >= p->mappings.nr || p->mappings.at[at].start > address)
		return;
	m = p->mappings.at[at].image;
	line = (address + p->mappings.at[at].to_file) >> IMAGE_CODE_LINE_SHIFT;
	*slot = (struct counted_line){ address >> IMAGE_CODE_LINE_SHIFT, &i->elsewhere };
	if (m && m->samples && line <= m->bytes >> IMAGE_CODE_LINE_SHIFT)
		slot->samples = &m->samples[line];
	++*slot->samples;
}

static void note_sample(void *images, const struct sample_seen *seen)
{
	struct images *i = images;
	struct process *p = get_process(i, seen->pid);

	if (!p)
		return;
	if (seen->user_ip)
		count_sample_of_line(i, p, seen->user_ip);
	if ((seen->nr_words || seen->nr_chain) && p->mappings.nr) {
		uint64_t low = p->mappings.at[0].start, span = p->mappings.at[p->mappings.nr - 1].end - low;

		for (uint32_t n = 0; n < seen->nr_words; n++) {
			uint64_t word;

			memcpy(&word, seen->words + 8 * n, 8);
			if (word - low < span)
				note_seen_address(i, p, word, false);
		}
		for (uint64_t n = 0; n < seen->nr_chain; n++)
			if (!(seen->chain[n] >> 63) && seen->chain[n] - low < span) /* kernel addresses are in no image */
				note_seen_address(i, p, seen->chain[n], false);
	}
}

/* Looks up addresses whose mapping was not known yet, and forgets processes that exited ENDED_SETTLES drains ago. */
static void settle(void *images, uint64_t now_ns, bool last)
{
	struct images *i = images;

	(void)now_ns;
	(void)last;
	if (!i->unsettled)
		return;
	i->unsettled = false;
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct process *next, *p = i->process[b]; p; p = next) {
			uint32_t kept = 0;

			next = p->next;
			for (uint32_t n = 0; n < p->pending.nr; n++)
				if (!mark_address_if_mapped(i, p, p->pending.at[n].address) && ++p->pending.at[n].tries < PENDING_TRIES)
					p->pending.at[kept++] = p->pending.at[n];
			p->pending.nr = kept;
			i->unsettled |= kept || p->ended;
			if (p->ended && p->ended++ > ENDED_SETTLES)
				forget_process(i, p->pid);
		}
}

/* said, rest: the sentence around the names of the files. */
static void notice_files(const struct images *i, enum notice_kind kind, const char *said, const struct images_missing *files,
			 const char *rest)
{
	char others[48] = "";

	if (files->nr > 1)
		snprintf(others, sizeof(others), " and %u more file%s", files->nr - 1, files->nr == 2 ? "" : "s");
	if (files->nr)
		i->recording->notice(i->recording->recording, kind, "%s%s%s%s", said, files->first, others, rest);
}

#define NOT_KEPT "; perf's cache (~/.debug) does not have what was sampled; their functions have no names"
#define OVERWRITTEN_ONES ", which was mapped, was overwritten; its functions have no names, or those of its former content"

/* Writes notices on files that were not read, or were overwritten. In a live recording, only the records of files say which are missing or
 * were replaced. */
static void notice_unread_files(const struct images *i)
{
	const struct name_source_recording *r = i->recording;
	const char *problem = debuginfod_problem(i->files.servers);
	const uint32_t nr = i->files.nr_left_out;

	if (problem)
		r->notice(r->recording, NOTICE_REFUSED, "%s", problem);
	if (nr)
		r->notice(r->recording, NOTICE_LOSS, "names of %u file%s were left out: the recording had to end before they were read", nr,
			  nr == 1 ? "" : "s");
	notice_files(i, NOTICE_LOSS, "", &i->files.overwritten, OVERWRITTEN_ONES);
	if (!i->files.past)
		return;
	notice_files(i, NOTICE_LADDER, "cannot read ", &i->files.gone, NOT_KEPT);
	notice_files(i, NOTICE_LADDER, "another build than was sampled lies at ", &i->files.replaced, NOT_KEPT);
}

static void write_files(void *images, uint64_t now_ns, bool last)
{
	struct images *i = images;

	if (last) {
		image_files_write(&i->files, i->recording->writer, now_ns);
		notice_unread_files(i);
	} else {
		image_files_write_early(&i->files, i->recording->writer, now_ns);
	}
}

const struct name_source images_source = { .create = create, .destroy = destroy, .note_fork = note_fork, .note_exec = note_exec,
	.note_exit = note_exit, .note_mapping = note_mapping, .note_sample = note_sample, .settle = settle, .write_files = write_files };
