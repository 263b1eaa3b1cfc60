/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/image_files.h"

#include "agent/recorder/images/debug_file.h"
#include "agent/recorder/images/debuginfod.h"
#include "agent/recorder/images/go_module.h"
#include "agent/recorder/images/mapped_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define EARLY_BYTES (4u << 20)	     /* bytes of files after which a call while the host runs writes no more */
#define EARLY_FILE_BYTES (1u << 20) /* maximum number of bytes of one such file; larger ones are written at the end, without unused parts */
#define EARLY_FILES 256u /* maximum number of such files that are kept in a list, because their code is written at the end */
#define FETCHED_PART 100u /* a debug file is fetched for an image with more than 1/FETCHED_PART of the samples */
#define OTHER_DESCRIPTORS 64u /* descriptors that the recorder may need beside files of images */
#define KEY_BYTES ELF_BUILD_ID_TEXT
#define REPLACED "the file at its path is not the one that was mapped"
#define OVERWRITTEN "it was overwritten while it was mapped"

void image_files_init(struct image_files *f, bool frames)
{
	struct rlimit files;

	*f = (struct image_files){ .frames = frames, .debug_bytes_left = DEBUG_FILE_BYTES_ALL };
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > OTHER_DESCRIPTORS)
		f->open_max = files.rlim_cur > UINT32_MAX ? UINT32_MAX : (uint32_t)(files.rlim_cur - OTHER_DESCRIPTORS) / 2;
}

void image_files_fini(struct image_files *f)
{
	image_code_destroy(f->code);
	debuginfod_destroy(f->servers);
	written_files_fini(&f->written);
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static void close_image_file(struct image_files *f, struct image *m)
{
	if (m->fd < 0)
		return;
	close(m->fd);
	m->fd = -1;
	f->nr_open--;
}

static int open_image_file(const struct image_files *f, const struct image *m, bool *by_path)
{
	*by_path = true;
	return f->past ? mapped_file_open_past(m, f->foreign) : mapped_file_open(m, by_path);
}

/* Opens a file again that was closed so that the recorder does not run out of descriptors.  Sets m->error if that fails, or if it is
 * another file. */
static void reopen_image_file(struct image_files *f, struct image *m)
{
	struct stat st;
	bool by_path;

	if (m->fd >= 0 || !m->opened || m->error)
		return;
	m->fd = open_image_file(f, m, &by_path);
	if (m->fd < 0) {
		m->error = errno;
		return;
	}
	f->nr_open++;
	if (fstat(m->fd, &st) || (uint64_t)st.st_dev != m->device || (uint64_t)st.st_ino != m->inode)
		m->error = ESTALE;
}

static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static void read_own_build_id(struct image *m)
{
	struct elf_parts parts;

	if (elf_parts_read_build_id(m->fd, &parts))
		return;
	m->own_id_bytes = parts.build_id_bytes <= IMAGE_BUILD_ID_MAX ? parts.build_id_bytes : 0;
	memcpy(m->own_id, parts.build_id, m->own_id_bytes);
	elf_parts_free(&parts);
}

/* Notes the mapping by which the image's file can be found, also when another file lies at its path. */
static void note_place(struct image *m, const struct image_mapping *at, uint32_t pid)
{
	m->pid = pid;
	m->start = at->start;
	m->end = at->end;
	m->offset = at->start + at->to_file;
}

void image_files_need(struct image_files *f, const struct image_mapping *at, uint32_t pid)
{
	struct image *m = at->image;
	struct stat st;
	bool keep, by_path;

	if (m->needed)
		return;
	m->needed = true;
	note_place(m, at, pid);
	m->next_needed = f->needed;
	f->needed = m;
	if (m->vdso) {
		m->error = f->other_kernel ? ENOENT : 0;
		return;
	}
	keep = f->nr_open < f->open_max;
	m->fd = open_image_file(f, m, &by_path);
	m->error = m->fd < 0 ? errno : 0;
	f->nr_open += m->fd >= 0;
	if (m->fd >= 0 && fstat(m->fd, &st) == 0) {
		m->opened = true;
		m->bytes = (uint64_t)st.st_size;
		m->device = st.st_dev;
		m->inode = st.st_ino;
		m->changed_ns = changed_ns(&st);
		read_own_build_id(m);
	}
	m->seen = calloc((m->bytes >> IMAGE_PAGE_SHIFT) / 64 + 1, sizeof(*m->seen));
	if (f->code && m->fd >= 0)
		m->samples = calloc((m->bytes >> IMAGE_CODE_LINE_SHIFT) + 1, sizeof(*m->samples));
	if (!keep && by_path && m->opened) /* a file that its path does not lead to can be opened only while its process lives */
		close_image_file(f, m);
}

/* ---------------------------------------------------------------------------------------------------------- writing */

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

/* Was the file overwritten since it was opened, as cp(1) does that finds a file at its target?  Its build id tells, or else the time of its
 * last change. */
static bool is_overwritten(const struct image_files *f, const struct image *m, const struct elf_parts *parts)
{
	struct stat st;

	if (f->past || !m->opened)
		return false;
	if (m->own_id_bytes)
		return !build_ids_are_same(m->own_id, m->own_id_bytes, parts->build_id, parts->build_id_bytes);
	return fstat(m->fd, &st) == 0 && (changed_ns(&st) != m->changed_ns || (uint64_t)st.st_size != m->bytes);
}

static void find_image_code(struct image_files *f, const struct image *m, struct elf_parts *parts)
{
	char key[KEY_BYTES];

	image_code_find_functions(f->code, m->fd, key_of_image(m, parts, key), &m->identity, parts, m->samples,
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

/* Has the image enough samples to fetch its debug file? Returns true if its samples are not counted. */
static bool is_worth_fetching(const struct image_files *f, const struct image *m)
{
	return !m->samples || nr_samples(m) * FETCHED_PART > f->nr_counted;
}

/* Finds the symbols of a file without .symtab in other files.  Returns false if it has .symtab, or if none are found, and then where says
 * why files that are there do not count. */
static bool find_symbols(struct image_files *f, const struct image *m, const struct elf_parts *parts, struct elf_parts *symbols,
			 char where[DEBUG_FILE_TEXT])
{
	struct debuginfod *servers = !parts->has_symbols && f->servers && is_worth_fetching(f, m) ? f->servers : NULL;
	uint32_t pid = f->past ? 0 : proc_mem_number_in_proc(m->pid);

	return !parts->has_symbols && debug_file_find(parts, m->fd, m->path, pid, servers, &f->debug_bytes_left, symbols, where);
}

static void add_missing(struct images_missing *missing, const char *path)
{
	if (missing->nr++ == 0)
		snprintf(missing->first, sizeof(missing->first), "%s", path);
}

/*
 * Writes the records of a file that was read.  pruned: no sample comes any more.  Its parts are written unless a copy of it has them
 * already.  The same goes for the symbols of its debug file, which may be found for one copy and not for another, since each is searched
 * for in its own process's root.
 */
static void write_readable_image(struct image_files *f, struct image *m, struct elf_parts *parts, bool pruned, struct trace_writer *w,
				 uint64_t time_ns)
{
	const struct elf_seen seen = { m->seen, (m->bytes >> IMAGE_PAGE_SHIFT) + 1 };
	char text[KEY_BYTES], where[DEBUG_FILE_TEXT] = "";
	const char *key = key_of_image(m, parts, text), *reason = parts->left_out ? parts->left_out : "";
	struct written_file file = { (char *)key, m->path, parts->file_bytes, m->identity, m->device, m->inode, parts->has_symbols };
	struct written_file *copy = parts->build_id_bytes ? written_files_find(&f->written, &file) : NULL;
	struct elf_parts symbols = { 0 };
	bool found;

	if (copy && !written_files_lack_path(&f->written, &file, m->by_guest))
		return;
	found = !(copy && copy->has_symbols) && !m->vdso && find_symbols(f, m, parts, &symbols, where);
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
		written_files_add(&f->written, &file);
}

/* Writes an image's file, or why it cannot be read.  all: samples may still come, so nothing is pruned. */
static void write_image(struct image_files *f, struct image *m, bool all, struct trace_writer *w, uint64_t time_ns)
{
	struct elf_parts parts = { 0 };
	char text[KEY_BYTES];
	const char *reason = "";
	int ret = m->error ? -m->error : m->vdso ? elf_parts_read_vdso(&parts) : elf_parts_read(m->fd, f->frames, &parts);

	if (ret) {
		if (!m->vdso)
			add_missing(&f->gone, m->path);
		reason = ret == -ENOEXEC ? TRACE_NOT_ELF :
			 ret == -ESTALE	 ? REPLACED :
			 ret == -EBADMSG ? "not a supported ELF file" :
					   strerror(-ret);
		ret = -1;
	} else if (!has_mapped_build_id(m, &parts)) {
		elf_parts_free(&parts);
		add_missing(&f->replaced, m->path);
		reason = REPLACED;
		ret = -1;
	} else if (is_overwritten(f, m, &parts)) {
		elf_parts_free(&parts);
		add_missing(&f->overwritten, m->path);
		reason = OVERWRITTEN;
		ret = -1;
	}
	if (ret) { /* other records refer to the image by this build id */
		memcpy(parts.build_id, m->build_id, m->build_id_bytes);
		parts.build_id_bytes = m->build_id_bytes;
		write_image_file(m, key_of_image(m, &parts, text), m->path, &parts, 0, reason, w, time_ns);
	} else {
		if (!m->vdso)
			go_module_add(m->fd, &parts);
		if (!all && f->code && m->samples)
			find_image_code(f, m, &parts);
		write_readable_image(f, m, &parts, !all && m->seen && !m->vdso, w, time_ns);
	}
	trace_writer_flush(w, TRACE_CHUNK_FILES);
	elf_parts_free(&parts);
}

/* Writes the first image of the list that is not larger than bytes, and removes it from there.  Returns its size, or UINT64_MAX if there is
 * none. */
static uint64_t write_next_image(struct image_files *f, uint64_t bytes, bool all, struct trace_writer *w, uint64_t time_ns)
{
	struct image **slot = &f->needed, *m;

	while (*slot && (*slot)->bytes > bytes)
		slot = &(*slot)->next_needed;
	m = *slot;
	if (!m)
		return UINT64_MAX;
	*slot = m->next_needed;
	reopen_image_file(f, m);
	write_image(f, m, all, w, time_ns);
	if (all && m->samples && f->nr_early < EARLY_FILES) { /* the image is kept, because its code is written at the end */
		m->next_needed = f->early;
		f->early = m;
		f->nr_early++;
		if (f->nr_open <= f->open_max)
			return m->bytes;
	}
	close_image_file(f, m);
	return m->bytes;
}

void image_files_write_early(struct image_files *f, struct trace_writer *w, uint64_t time_ns)
{
	uint64_t sum = 0, bytes;

	if (f->servers) /* while symbols are fetched, rings would not be drained, so all files wait for the end */
		return;
	while (sum < EARLY_BYTES && (bytes = write_next_image(f, EARLY_FILE_BYTES, true, w, time_ns)) != UINT64_MAX)
		sum += bytes;
}

static void find_code_of_early_image(struct image_files *f, struct image *m)
{
	struct elf_parts parts;

	reopen_image_file(f, m);
	if (!m->error && elf_parts_read(m->fd, f->frames, &parts) == 0) {
		if (is_overwritten(f, m, &parts))
			add_missing(&f->overwritten, m->path);
		else if (has_mapped_build_id(m, &parts))
			find_image_code(f, m, &parts);
		elf_parts_free(&parts);
	}
	close_image_file(f, m);
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
	for (uint64_t word = 0; word <= (bytes >> IMAGE_PAGE_SHIFT) / 64; word++)
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
static void put_paths_of_guests_last(struct image_files *f)
{
	struct image *guests = NULL, **end = &guests, **slot = &f->needed;

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

static bool has_no_time(const struct image_files *f)
{
	return f->is_over && f->is_over(f->over_context);
}

void image_files_write(struct image_files *f, struct trace_writer *w, uint64_t time_ns)
{
	put_paths_of_guests_last(f);
	share_pages_of_same_files(f->needed);
	share_pages_of_same_files(f->early);
	for (struct image *m = f->needed; m && f->servers; m = m->next_needed)
		f->nr_counted += nr_samples(m);
	while (!has_no_time(f) && write_next_image(f, UINT64_MAX - 1, false, w, time_ns) != UINT64_MAX)
		;
	for (struct image *m = f->needed; m; m = m->next_needed)
		f->nr_left_out++;
	for (struct image *m = f->early; m && !has_no_time(f); m = m->next_needed)
		find_code_of_early_image(f, m);
	f->early = NULL;
	if (f->code)
		image_code_write(f->code, w, time_ns);
}
