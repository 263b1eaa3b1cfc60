/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/images.h"

#include "agent/recorder/images/debug_file.h"
#include "agent/recorder/images/debuginfod.h"
#include "agent/recorder/images/elf_prune.h"
#include "agent/recorder/images/go_module.h"
#include "agent/recorder/images/image_code.h"
#include "agent/recorder/images/written_files.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/mapping_kind.h"
#include "jitreg/base/regular_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_SHIFT ELF_THIN_PAGE_SHIFT
#define SEEN_PAGES 1024u /* slots per process; a page is looked up again if another one took its slot */
#define COUNTED_LINES 256u /* slots per process for lines with samples, used in the same way */
#define PENDING_MAX 256u
#define PENDING_TRIES 100u /* drains after which an address without a mapping is given up */
#define MAPPINGS_FIRST 16u
#define MAPPINGS_MAX (1u << 20) /* per process; more than the kernel's default limit of mappings */
#define ENDED_SETTLES 200u /* drains for which an ended process is remembered, because rings are drained one after another */
#define EARLY_BYTES (4u << 20)	     /* bytes of files that are written at once while the host runs */
#define EARLY_FILE_BYTES (1u << 20) /* bytes of one such file; larger ones are written at the end, without unused parts */
#define EARLY_FILES 256u /* number of such files that are kept in a list, because their code is written at the end */
#define BUILD_ID_MAX 20
#define FETCHED_PART 100u /* a debug file is fetched for an image with more than 1/FETCHED_PART of the samples */
#define COMPARED_BYTES 16384u
#define OTHER_DESCRIPTORS 64u /* descriptors that the recorder may need beside files of images */
#define DELETED " (deleted)"
#define REPLACED "the file was replaced after it was mapped"

struct image {
	struct image *next;
	struct image *next_needed;
	int fd; /* -1: not open */
	uint32_t pid; /* process in whose view of the file system it was opened */
	bool needed, opened; /* opened: bytes, device and inode are known */
	uint64_t bytes, device, inode; /* size, device and inode of the opened file */
	uint64_t *seen; /* a bit per page of the file, set if an address in it was seen; NULL without memory */
	uint32_t *samples; /* number of samples per line of the file (IMAGE_CODE_LINE_SHIFT); NULL: its code is not wanted, or no memory */
	bool vdso;
	int error;
	bool by_guest; /* only guests reported the path, so it may contain links */
	uint32_t build_id_bytes;
	unsigned char build_id[BUILD_ID_MAX]; /* build id of the mapped file, as the kernel or the guest reported it */
	uint32_t own_id_bytes;
	unsigned char own_id[BUILD_ID_MAX]; /* build id of the opened file, which may be another one; own_id_bytes 0: none, or unknown */
	struct file_identity identity;	    /* identity of the mapped file, if its build id is not reported */
	char path[]; /* path of the mapping */
};

struct range {
	uint64_t start, end;
	uint64_t to_file; /* file offset minus address */
	uint64_t time_ns;
	struct image *image;
};

struct pending {
	uint64_t address;
	unsigned tries;
};

struct counted_line {
	uint64_t line;
	uint32_t *samples; /* NULL: a free slot */
};

/* Caches of one process, 12 KiB.  They are freed when it ends, because there may be thousands of short processes. */
struct caches {
	uint64_t seen[SEEN_PAGES];
	struct counted_line counted[COUNTED_LINES];
};

struct process {
	struct process *next;
	uint32_t pid;
	uint32_t nr, capacity;
	uint64_t exec_ns; /* time of the last exec; no mapping is older */
	struct range *mapping; /* sorted by start, disjoint */
	struct caches *caches; /* NULL before the first sample, after the end, and without memory */
	unsigned ended; /* 1 + number of drains since its end; 0: it lives */
	uint64_t end_ns;
	struct pending *pending;
	uint32_t nr_pending, pending_capacity;
};

#define BUCKETS 4096u
#define KEY_BYTES ELF_BUILD_ID_TEXT
struct images {
	bool frames; /* unwind tables are wanted */
	bool past, other_kernel; /* set by images_set_past() */
	struct process *process[BUCKETS];
	bool unsettled; /* an address waits for its mapping, or a process has exited */
	struct process *last; /* most samples in a row come from one process */
	struct process *late; /* the last sampled process without caches of its own, which uses late_caches */
	struct caches late_caches;
	struct image *image[BUCKETS];
	struct image *needed; /* images whose file is to be written */
	struct image *early;  /* images whose file is written, but not their code */
	uint32_t nr_early;
	uint32_t nr_open, open_max; /* open files, and their limit; other files are opened again when they are written */
	struct debuginfod *servers; /* NULL: nothing is fetched */
	uint64_t nr_counted; /* samples in all images, when they are written */
	struct image_code *code; /* NULL: not wanted */
	uint32_t elsewhere; /* samples in no image */
	struct written_files written;
	struct images_missing gone, replaced;
	bool (*is_over)(void *context); /* returns true if no time is left for files; NULL: there is time */
	void *over_context;
	uint32_t nr_left_out;
	uint64_t debug_bytes_left; /* bytes of debug files that may still be read whole, or unpacked */
};

int images_create(bool frames, struct images **out)
{
	struct rlimit files;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->frames = frames;
	(*out)->debug_bytes_left = DEBUG_FILE_BYTES_ALL;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > OTHER_DESCRIPTORS)
		(*out)->open_max = files.rlim_cur > UINT32_MAX ? UINT32_MAX : (uint32_t)(files.rlim_cur - OTHER_DESCRIPTORS) / 2;
	return 0;
}

int images_keep_code(struct images *i, uint64_t limit_bytes)
{
	if (!limit_bytes)
		return 0;
	i->code = image_code_create(limit_bytes);
	return i->code ? 0 : -ENOMEM;
}

void images_fetch(struct images *i, bool asked)
{
	i->servers = debuginfod_create(asked);
}

const char *images_fetch_problem(const struct images *i)
{
	return debuginfod_problem(i->servers);
}

void images_set_limit(struct images *i, bool (*is_over)(void *context), void *context)
{
	i->is_over = is_over;
	i->over_context = context;
	if (i->servers)
		debuginfod_set_limit(i->servers, is_over, context);
}

uint32_t images_left_out(const struct images *i)
{
	return i->nr_left_out;
}

void images_set_past(struct images *i, bool same_kernel)
{
	i->past = true;
	i->other_kernel = !same_kernel;
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
	free(p->pending);
	free(p->mapping);
	free(p);
}

void images_destroy(struct images *i)
{
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
	image_code_destroy(i->code);
	debuginfod_destroy(i->servers);
	written_files_fini(&i->written);
	free(i);
}

void images_note_exec(struct images *i, uint32_t pid, uint64_t time_ns)
{
	struct process *p = get_process(i, pid);
	uint32_t kept = 0;

	if (!p || time_ns < p->exec_ns)
		return;
	p->exec_ns = time_ns;
	for (uint32_t n = 0; n < p->nr; n++)
		if (p->mapping[n].time_ns >= time_ns)
			p->mapping[kept++] = p->mapping[n];
	p->nr = kept;
	drop_caches(i, p);
}

void images_note_exit(struct images *i, uint32_t pid, uint64_t time_ns)
{
	struct process *p = *slot_of_process(i, pid);

	if (p && !p->ended) {
		p->ended = 1;
		p->end_ns = time_ns;
		drop_caches(i, p);
	}
	i->unsettled = true;
}

static bool build_ids_are_same(const unsigned char *a, uint32_t a_bytes, const unsigned char *b, size_t b_bytes)
{
	return a_bytes && a_bytes == b_bytes && memcmp(a, b, b_bytes) == 0;
}

/*
 * May an image and a mapping be of one file, of which one is known by its build id and the other one by its inode?  The build id of the
 * file that was opened for the image decides.  If it is unknown they count as two images, because one path may lead to several files: in
 * the roots of containers, or when a file was replaced.
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

/* Is the mapping known already, with this file?  A guest knows the file by the path that its loader used, and perhaps by its build id.  The
 * kernel may have reported the same mapping with more about the file, which is kept. */
static bool mapping_is_known_already(const struct process *p, const struct mapping *m)
{
	uint32_t at = index_of_mapping_from(p, m->address);
	const struct image *i = at < p->nr && p->mapping[at].start == m->address && p->mapping[at].end == m->address + m->bytes ?
					p->mapping[at].image :
					NULL;

	if (!i)
		return false;
	if (m->build_id_bytes)
		return m->by_guest && build_ids_are_same(i->build_id, i->build_id_bytes, m->build_id, m->build_id_bytes);
	return !file_identity_is_known(&m->file) && image_matches_mapping(i, m);
}

/* Inserts a mapping, which replaces what it overlaps.  Does nothing if there are too many, or if memory runs out. */
static void insert(struct process *p, struct range new)
{
	const uint64_t address = new.start;
	uint32_t from, to;

	if (p->nr >= MAPPINGS_MAX)
		return;
	if (p->nr + 2 > p->capacity) {
		uint32_t capacity = p->capacity ? 2 * p->capacity : MAPPINGS_FIRST;
		struct range *bigger = realloc(p->mapping, capacity * sizeof(*bigger));

		if (!bigger)
			return;
		p->mapping = bigger;
		p->capacity = capacity;
	}
	from = index_of_mapping_from(p, address);
	/* A mapping that is overlapped keeps its parts outside of the new one. */
	if (from < p->nr && p->mapping[from].start < address) {
		struct range behind = p->mapping[from];

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
}

/* Inserts a mapping without a file where no image is mapped.  Text that a program has moved into large pages is still its image's. */
static void insert_beside_images(struct process *p, struct range new)
{
	const uint64_t end = new.end;

	while (new.start < end) {
		uint32_t at = index_of_mapping_from(p, new.start);
		struct range image = { end, end, 0, 0, NULL };

		while (at < p->nr && !p->mapping[at].image)
			at++;
		if (at < p->nr && p->mapping[at].start < end)
			image = p->mapping[at];
		new.end = image.start;
		if (new.start < new.end)
			insert(p, new);
		new.start = image.end;
	}
}

void images_add_mapping(struct images *i, const struct mapping *m, uint64_t time_ns)
{
	struct process *p = get_process(i, m->pid);
	struct mapping of = *m;
	struct range new = { m->address, m->address + m->bytes, m->offset - m->address, time_ns, NULL };

	of.path_bytes = strnlen(m->path, m->path_bytes);
	if (of.build_id_bytes > BUILD_ID_MAX)
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

void images_note_fork(struct images *i, uint32_t ppid, uint32_t pid, uint64_t time_ns)
{
	struct process *parent = *slot_of_process(i, ppid), *child = *slot_of_process(i, pid);
	struct range *copy;

	if (child && child->ended && child->end_ns < time_ns)
		forget_process(i, pid); /* the process number was used again */
	child = get_process(i, pid);
	if (!parent || !parent->nr || !child || parent == child || child->nr)
		return;
	copy = malloc((parent->nr + 2) * sizeof(*copy));
	if (!copy)
		return;
	free(child->mapping); /* as many as an exec has left are allocated */
	child->mapping = copy;
	memcpy(child->mapping, parent->mapping, parent->nr * sizeof(*child->mapping));
	child->nr = parent->nr;
	child->capacity = parent->nr + 2;
}

static void close_image_file(struct images *i, struct image *m)
{
	if (m->fd < 0)
		return;
	close(m->fd);
	m->fd = -1;
	i->nr_open--;
}

/* Opens a file for an import, whose processes have exited.  If the build id of the mapping is known, and the file at the path does not have
 * it, the copy in perf's cache is opened, if there is one.  Returns -1 and errno if no file can be opened. */
static int open_of_the_past(const struct image *m)
{
	int fd = regular_file_open(m->path), kept;

	if (!m->build_id_bytes || (fd >= 0 && debug_file_has_id(fd, m->build_id, m->build_id_bytes)))
		return fd;
	kept = debug_file_open_kept(m->build_id, m->build_id_bytes);
	if (kept < 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return kept;
}

/* Opens a file where its process looks for it, which may be in a container.  /proc names a file below a root directory inside of another
 * mount namespace by its whole path there. */
static int open_in_process_root(const struct image *m)
{
	uint32_t pid = proc_mem_number_in_proc(m->pid);
	char path[4200], root[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, m->path);
	fd = regular_file_open(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	n = readlink(path, root, sizeof(root));
	if (n <= 1 || n == sizeof(root) || strncmp(m->path, root, (size_t)n) != 0 || m->path[n] != '/')
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, m->path + n);
	return regular_file_open(path);
}

/* Opens the file of the mapping itself, whatever its path (needs privileges), or the program that the process runs if it has the mapping's
 * path. */
static int open_where_mapped(const struct image *m, const struct range *at)
{
	uint32_t pid = proc_mem_number_in_proc(m->pid);
	char path[64], exe[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)at->start, (unsigned long long)at->end);
	fd = regular_file_open(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, exe, sizeof(exe));
	return n == (ssize_t)strlen(m->path) && memcmp(exe, m->path, (size_t)n) == 0 ? regular_file_open(path) : -1;
}

/* Opens a file again that was closed so that the recorder does not run out of descriptors.  Sets m->error if that fails, or if it is
 * another file. */
static void reopen_image_file(struct images *i, struct image *m)
{
	struct stat st;

	if (m->fd >= 0 || !m->opened || m->error)
		return;
	m->fd = i->past ? open_of_the_past(m) : open_in_process_root(m);
	if (m->fd < 0 && !i->past)
		m->fd = regular_file_open(m->path);
	if (m->fd < 0) {
		m->error = errno;
		return;
	}
	i->nr_open++;
	if (fstat(m->fd, &st) || (uint64_t)st.st_dev != m->device || (uint64_t)st.st_ino != m->inode)
		m->error = ESTALE;
}

/* Is a file that cannot be opened any more no ELF file?  The mapping is read in the process's memory, if it is of the beginning of the
 * file. */
static bool mapping_is_no_elf(const struct range *at, uint32_t pid)
{
	char magic[SELFMAG];

	return at->to_file + at->start == 0 && proc_mem_read((pid_t)pid, at->start, magic, sizeof(magic)) == 0 &&
	       memcmp(magic, ELFMAG, SELFMAG) != 0;
}

/* Does the file have other code than the process?  Called for a file without a reported build id, which may have come to the path after
 * another one was mapped from there.  A few bytes may differ, because a debugger or the host itself may have changed instructions. */
static bool file_differs_from_memory(const struct range *at, uint32_t pid)
{
	char file[COMPARED_BYTES], memory[COMPARED_BYTES];
	size_t bytes = at->end - at->start < COMPARED_BYTES ? at->end - at->start : COMPARED_BYTES, different = 0;
	ssize_t n = pread(at->image->fd, file, bytes, (off_t)(at->start + at->to_file));

	if (n <= 0 || proc_mem_read((pid_t)pid, at->start, memory, (size_t)n))
		return false;
	for (ssize_t i = 0; i < n; i++)
		different += file[i] != memory[i];
	return different > (size_t)n / 64;
}

/* Opens an image's file, or sets m->error.  While the process lives, its own view comes first, because it may be in a container, or its
 * file deleted.  Returns true if the file has to stay open, because it could not be opened again by its path. */
static bool open_image_file(struct images *i, struct image *m, const struct range *at)
{
	const size_t bytes = strlen(m->path), suffix = sizeof(DELETED) - 1;
	const bool deleted = bytes > suffix && strcmp(m->path + bytes - suffix, DELETED) == 0;
	bool keep = false;

	m->fd = i->past ? open_of_the_past(m) : deleted ? -1 : open_in_process_root(m);
	if (m->fd < 0 && !i->past) {
		m->fd = open_where_mapped(m, at);
		keep = m->fd >= 0;
	}
	if (m->fd < 0 && !i->past && !deleted)
		m->fd = regular_file_open(m->path);
	if (m->fd < 0)
		m->error = deleted && mapping_is_no_elf(at, m->pid) ? ENOEXEC : deleted ? ENOENT : errno;
	return keep;
}

static void read_own_build_id(struct image *m)
{
	struct elf_parts parts;

	if (elf_parts_read_build_id(m->fd, &parts))
		return;
	m->own_id_bytes = parts.build_id_bytes <= BUILD_ID_MAX ? parts.build_id_bytes : 0;
	memcpy(m->own_id, parts.build_id, m->own_id_bytes);
	elf_parts_free(&parts);
}

static void mark_image_needed(struct images *i, const struct range *at, uint32_t pid)
{
	struct image *m = at->image;
	bool keep = i->nr_open < i->open_max;
	struct stat st;

	if (m->needed)
		return;
	m->needed = true;
	m->pid = pid;
	m->next_needed = i->needed;
	i->needed = m;
	if (m->vdso) {
		m->error = i->other_kernel ? ENOENT : 0;
		return;
	}
	keep |= open_image_file(i, m, at);
	i->nr_open += m->fd >= 0;
	if (m->fd >= 0 && fstat(m->fd, &st) == 0) {
		m->opened = true;
		m->bytes = (uint64_t)st.st_size;
		m->device = st.st_dev;
		m->inode = st.st_ino;
		read_own_build_id(m);
		if (!m->build_id_bytes && file_identity_is_known(&m->identity) && !i->past && S_ISREG(st.st_mode) &&
		    file_differs_from_memory(at, pid))
			m->error = ESTALE;
	}
	m->seen = calloc((m->bytes >> PAGE_SHIFT) / 64 + 1, sizeof(*m->seen));
	if (i->code && m->fd >= 0)
		m->samples = calloc((m->bytes >> IMAGE_CODE_LINE_SHIFT) + 1, sizeof(*m->samples));
	if (!keep && m->opened)
		close_image_file(i, m);
}

static void mark_page_seen(struct image *m, uint64_t page)
{
	if (m->seen && page <= m->bytes >> PAGE_SHIFT)
		m->seen[page / 64] |= 1ull << page % 64;
}

static bool mark_address_if_mapped(struct images *i, struct process *p, uint64_t address)
{
	uint32_t at = index_of_mapping_from(p, address);

	if (at >= p->nr || p->mapping[at].start > address)
		return false;
	if (p->mapping[at].image) {
		mark_image_needed(i, &p->mapping[at], p->pid);
		mark_page_seen(p->mapping[at].image, (address + p->mapping[at].to_file) >> PAGE_SHIFT);
	}
	return true;
}

/* Returns the caches of a process.  An ended process uses the shared ones, because it has only few samples left in rings. */
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
	uint64_t page = address >> PAGE_SHIFT, *slot = &get_caches(i, p)->seen[page % SEEN_PAGES];

	if (*slot == page)
		return;
	*slot = page;
	if (!mark_address_if_mapped(i, p, address) && must && p->nr_pending < PENDING_MAX &&
	    GROW(p->pending, p->nr_pending, p->pending_capacity)) {
		p->pending[p->nr_pending++] = (struct pending){ address, 0 };
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
	if (!i->code)
		return;
	at = index_of_mapping_from(p, address);
	if (at >= p->nr || p->mapping[at].start > address)
		return;
	m = p->mapping[at].image;
	line = (address + p->mapping[at].to_file) >> IMAGE_CODE_LINE_SHIFT;
	*slot = (struct counted_line){ address >> IMAGE_CODE_LINE_SHIFT, &i->elsewhere };
	if (m && m->samples && line <= m->bytes >> IMAGE_CODE_LINE_SHIFT)
		slot->samples = &m->samples[line];
	++*slot->samples;
}

void images_add_sample(struct images *i, const struct sample_seen *seen)
{
	struct process *p = get_process(i, seen->pid);

	if (!p)
		return;
	if (seen->user_ip)
		count_sample_of_line(i, p, seen->user_ip);
	if ((seen->nr_words || seen->nr_chain) && p->nr) {
		uint64_t low = p->mapping[0].start, span = p->mapping[p->nr - 1].end - low;

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

void images_settle(struct images *i)
{
	if (!i->unsettled)
		return;
	i->unsettled = false;
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct process *next, *p = i->process[b]; p; p = next) {
			uint32_t kept = 0;

			next = p->next;
			for (uint32_t n = 0; n < p->nr_pending; n++)
				if (!mark_address_if_mapped(i, p, p->pending[n].address) && ++p->pending[n].tries < PENDING_TRIES)
					p->pending[kept++] = p->pending[n];
			p->nr_pending = kept;
			i->unsettled |= kept || p->ended;
			if (p->ended && p->ended++ > ENDED_SETTLES)
				forget_process(i, p->pid);
		}
}

static const char *key_of_image(const struct image *m, const struct elf_parts *parts, char key[KEY_BYTES])
{
	elf_parts_format_build_id(parts, key);
	return parts->build_id_bytes ? key : m->path;
}

static bool has_mapped_build_id(const struct image *m, const struct elf_parts *parts)
{
	return !m->build_id_bytes ||
	       (parts->build_id_bytes == m->build_id_bytes && memcmp(parts->build_id, m->build_id, m->build_id_bytes) == 0);
}

static void find_image_code(struct images *i, const struct image *m, struct elf_parts *parts)
{
	char key[KEY_BYTES];

	image_code_find_functions(i->code, m->fd, key_of_image(m, parts, key), &m->identity, parts, m->samples,
				  (m->bytes >> IMAGE_CODE_LINE_SHIFT) + 1);
}

/* Writes an IMAGE_FILE record with the first nr_parts of the parts. */
static void write_image_file(const struct image *m, const char *key, const char *path, const struct elf_parts *parts, uint32_t nr_parts,
			     const char *reason, struct trace_writer *w, uint64_t time_ns)
{
	struct trace_file_part part[ELF_PARTS_MAX];

	for (uint32_t n = 0; n < nr_parts; n++)
		part[n] = (struct trace_file_part){ parts->part[n].file_offset, { parts->part[n].bytes, parts->part[n].nr } };
	TRACE_PUT(w, image_file, time_ns, 0, 0, .key = trace_string(key), .path = trace_string(path),
		  .build_id = { parts->build_id, parts->build_id_bytes }, .file_bytes = parts->file_bytes, .reason = trace_string(reason),
		  .parts = { part, nr_parts }, .device = m->identity.device, .inode = m->identity.inode,
		  .generation = m->identity.generation);
}

static uint64_t nr_samples(const struct image *m)
{
	uint64_t sum = 0;

	for (uint64_t line = 0; m->samples && line <= m->bytes >> IMAGE_CODE_LINE_SHIFT; line++)
		sum += m->samples[line];
	return sum;
}

/* Has the image enough samples to fetch its debug file?  If samples are not counted by image, all images have. */
static bool is_worth_fetching(const struct images *i, const struct image *m)
{
	return !m->samples || nr_samples(m) * FETCHED_PART > i->nr_counted;
}

/* Finds the symbols of a file without .symtab in other files.  Returns false if it has .symtab, or if none are found, and then where says
 * why files that are there do not count. */
static bool find_symbols(struct images *i, const struct image *m, const struct elf_parts *parts, struct elf_parts *symbols,
			 char where[DEBUG_FILE_TEXT])
{
	struct debuginfod *servers = !parts->has_symbols && i->servers && is_worth_fetching(i, m) ? i->servers : NULL;
	uint32_t pid = i->past ? 0 : proc_mem_number_in_proc(m->pid);

	return !parts->has_symbols && debug_file_find(parts, m->fd, m->path, pid, servers, &i->debug_bytes_left, symbols, where);
}

static void add_missing(struct images_missing *missing, const char *path)
{
	if (missing->nr++ == 0)
		snprintf(missing->first, sizeof(missing->first), "%s", path);
}

const struct images_missing *images_gone(const struct images *i)
{
	return &i->gone;
}

const struct images_missing *images_replaced(const struct images *i)
{
	return &i->replaced;
}

/*
 * Writes the records of a file that was read.  pruned: no sample comes any more.  Its parts are written unless a copy of it has them
 * already.  The same goes for the symbols of its debug file, which may be found for one copy and not for another, since each is searched
 * for in its own process's root.
 */
static void write_readable_image(struct images *i, struct image *m, struct elf_parts *parts, bool pruned, struct trace_writer *w,
				 uint64_t time_ns)
{
	const struct elf_seen seen = { m->seen, (m->bytes >> PAGE_SHIFT) + 1 };
	char text[KEY_BYTES], where[DEBUG_FILE_TEXT] = "";
	const char *key = key_of_image(m, parts, text), *reason = parts->left_out ? parts->left_out : "";
	struct written_file file = { (char *)key, m->path, parts->file_bytes, m->identity, m->device, m->inode, parts->has_symbols };
	struct written_file *copy = parts->build_id_bytes ? written_files_find(&i->written, &file) : NULL;
	struct elf_parts symbols = { 0 };
	bool found;

	if (copy && !written_files_lack_path(&i->written, &file, m->by_guest))
		return;
	found = !(copy && copy->has_symbols) && !m->vdso && find_symbols(i, m, parts, &symbols, where);
	if (pruned && !copy)
		elf_prune(parts, parts, &seen);
	if (pruned && found)
		elf_prune(&symbols, parts, &seen);
	if (copy) {
		write_image_file(m, key, m->path, parts, 0, TRACE_COPY, w, time_ns);
		copy->has_symbols |= found;
	} else {
		write_image_file(m, key, m->path, parts, parts->nr, *reason || found ? reason : where, w, time_ns);
	}
	if (found)
		write_image_file(m, key, where, &symbols, symbols.nr, TRACE_DEBUG_FILE, w, time_ns);
	elf_parts_free(&symbols);
	file.has_symbols |= found;
	if (parts->build_id_bytes)
		written_files_add(&i->written, &file);
}

/* Writes an image's file, or why it cannot be read.  all: samples may still come, so nothing is pruned. */
static void write_image(struct images *i, struct image *m, bool all, struct trace_writer *w, uint64_t time_ns)
{
	struct elf_parts parts = { 0 };
	char text[KEY_BYTES];
	const char *reason = "";
	int ret = m->error ? -m->error : m->vdso ? elf_parts_read_vdso(&parts) : elf_parts_read(m->fd, i->frames, &parts);

	if (ret) {
		if (!m->vdso)
			add_missing(&i->gone, m->path);
		reason = ret == -ENOEXEC ? TRACE_NOT_ELF :
			 ret == -ESTALE	 ? REPLACED :
			 ret == -EBADMSG ? "not a supported ELF file" :
					   strerror(-ret);
		ret = -1;
	} else if (!has_mapped_build_id(m, &parts)) {
		elf_parts_free(&parts);
		add_missing(&i->replaced, m->path);
		reason = REPLACED;
		ret = -1;
	}
	if (ret) { /* other records refer to the image by this build id */
		memcpy(parts.build_id, m->build_id, m->build_id_bytes);
		parts.build_id_bytes = m->build_id_bytes;
		write_image_file(m, key_of_image(m, &parts, text), m->path, &parts, 0, reason, w, time_ns);
	} else {
		if (!m->vdso)
			go_module_add(m->fd, &parts);
		if (!all && i->code && m->samples)
			find_image_code(i, m, &parts);
		write_readable_image(i, m, &parts, !all && m->seen && !m->vdso, w, time_ns);
	}
	trace_writer_flush(w, TRACE_CHUNK_FILES);
	elf_parts_free(&parts);
}

/* Writes the first image of the list that is not larger than bytes, and removes it from there.  Returns its size, or UINT64_MAX if there is
 * none. */
static uint64_t write_next_image(struct images *i, uint64_t bytes, bool all, struct trace_writer *w, uint64_t time_ns)
{
	struct image **slot = &i->needed, *m;

	while (*slot && (*slot)->bytes > bytes)
		slot = &(*slot)->next_needed;
	m = *slot;
	if (!m)
		return UINT64_MAX;
	*slot = m->next_needed;
	reopen_image_file(i, m);
	write_image(i, m, all, w, time_ns);
	if (all && m->samples && i->nr_early < EARLY_FILES) { /* the image is kept, because its code is written at the end */
		m->next_needed = i->early;
		i->early = m;
		i->nr_early++;
		if (i->nr_open <= i->open_max)
			return m->bytes;
	}
	close_image_file(i, m);
	return m->bytes;
}

void images_write_early(struct images *i, struct trace_writer *w, uint64_t time_ns)
{
	uint64_t sum = 0, bytes;

	if (i->servers) /* while symbols are fetched, rings would not be drained, so all files wait for the end */
		return;
	while (sum < EARLY_BYTES && (bytes = write_next_image(i, EARLY_FILE_BYTES, true, w, time_ns)) != UINT64_MAX)
		sum += bytes;
}

static void find_code_of_early_image(struct images *i, struct image *m)
{
	struct elf_parts parts;

	reopen_image_file(i, m);
	if (!m->error && elf_parts_read(m->fd, i->frames, &parts) == 0) {
		if (has_mapped_build_id(m, &parts))
			find_image_code(i, m, &parts);
		elf_parts_free(&parts);
	}
	close_image_file(i, m);
}

/*
 * Are two images one file, or copies of it?  Copies have one build id, and the kernel and the guest may have different names for one file.
 * The parts are written once, so their seen pages are shared.  If copies were stripped differently, one may have the symbols that the other
 * one lacks.
 */
static bool images_are_same_file(const struct image *m, const struct image *n)
{
	if (!m->seen || !n->seen || !m->opened || !n->opened)
		return false;
	return build_ids_are_same(m->own_id, m->own_id_bytes, n->own_id, n->own_id_bytes) ||
	       (m->device == n->device && m->inode == n->inode);
}

static void share_seen_pages(struct image *m, struct image *n)
{
	const uint64_t bytes = m->bytes < n->bytes ? m->bytes : n->bytes;
	const bool are_copies = m->bytes == n->bytes && m->samples && n->samples;

	for (uint64_t line = 0; are_copies && line <= bytes >> IMAGE_CODE_LINE_SHIFT; line++)
		if (n->samples[line]) {
			m->samples[line] += n->samples[line];
			n->samples[line] = 0;
		}
	for (uint64_t word = 0; word <= (bytes >> PAGE_SHIFT) / 64; word++)
		m->seen[word] = n->seen[word] |= m->seen[word];
}

static void share_pages_of_same_files(struct image *first)
{
	/* A may be B's copy by build id, and B the same file as C by inode, while A and C do not match.  A gets C's pages from B in the
	 * second pass. */
	for (int twice = 0; twice < 2; twice++)
		for (struct image *m = first; m; m = m->next_needed)
			for (struct image *n = m->next_needed; n; n = n->next_needed)
				if (images_are_same_file(m, n))
					share_seen_pages(m, n);
}

/* Moves images with a guest's path to the end of the list.  The record of a file has the kernel's path then, and the guest's is skipped,
 * since it may contain links. */
static void put_paths_of_guests_last(struct images *i)
{
	struct image *guests = NULL, **end = &guests, **slot = &i->needed;

	while (*slot) {
		if (!(*slot)->by_guest) {
			slot = &(*slot)->next_needed;
			continue;
		}
		*end = *slot;
		*slot = (*slot)->next_needed;
		end = &(*end)->next_needed;
	}
	*end = NULL;
	*slot = guests;
}

static bool has_no_time(const struct images *i)
{
	return i->is_over && i->is_over(i->over_context);
}

void images_write(struct images *i, struct trace_writer *w, uint64_t time_ns)
{
	put_paths_of_guests_last(i);
	share_pages_of_same_files(i->needed);
	share_pages_of_same_files(i->early);
	for (struct image *m = i->needed; m && i->servers; m = m->next_needed)
		i->nr_counted += nr_samples(m);
	while (!has_no_time(i) && write_next_image(i, UINT64_MAX - 1, false, w, time_ns) != UINT64_MAX)
		;
	for (struct image *m = i->needed; m; m = m->next_needed)
		i->nr_left_out++;
	for (struct image *m = i->early; m && !has_no_time(i); m = m->next_needed)
		find_code_of_early_image(i, m);
	i->early = NULL;
	if (i->code)
		image_code_write(i->code, w, time_ns);
}
