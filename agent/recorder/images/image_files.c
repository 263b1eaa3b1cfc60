/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/image_files.h"

#include "agent/recorder/images/debug_file.h"
#include "agent/recorder/images/debuginfod.h"
#include "agent/recorder/images/go_module.h"
#include "agent/recorder/process/proc_mem.h"
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

#define EARLY_BYTES (4u << 20)	     /* bytes of files after which a call while the host runs writes no more */
#define EARLY_FILE_BYTES (1u << 20) /* maximum number of bytes of one such file; larger ones are written at the end, without unused parts */
#define EARLY_FILES 256u /* maximum number of such files that are kept in a list, because their code is written at the end */
#define FETCHED_PART 100u /* a debug file is fetched for an image with more than 1/FETCHED_PART of the samples */
#define COMPARED_BYTES 16384u
#define OTHER_DESCRIPTORS 64u /* descriptors that the recorder may need beside files of images */
#define KEY_BYTES ELF_BUILD_ID_TEXT
#define DELETED " (deleted)"
#define REPLACED "the file at its path is not the one that was mapped"

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

/* Is the file a program or library of this machine's architecture? */
static bool is_of_this_machine(int fd)
{
	Elf64_Ehdr h;

	return pread(fd, &h, sizeof(h), 0) == sizeof(h) && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_machine == EM_X86_64;
}

/* Opens a file for an import, whose processes have exited. If the build id of the mapping is known, and the file at the path does not have
 * it, the copy in perf's cache is opened, or else that file. Returns -1 and errno if no file can be opened. */
static int open_of_the_past(const struct image_files *f, const struct image *m)
{
	int fd = regular_file_open(m->path), kept;

	if (fd >= 0 && f->foreign && is_of_this_machine(fd)) {
		close(fd);
		fd = -1;
		errno = ENOEXEC;
	}

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
static int open_where_mapped(const struct image *m, const struct image_mapping *at)
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
static void reopen_image_file(struct image_files *f, struct image *m)
{
	struct stat st;

	if (m->fd >= 0 || !m->opened || m->error)
		return;
	m->fd = f->past ? open_of_the_past(f, m) : open_in_process_root(m);
	if (m->fd < 0 && !f->past)
		m->fd = regular_file_open(m->path);
	if (m->fd < 0) {
		m->error = errno;
		return;
	}
	f->nr_open++;
	if (fstat(m->fd, &st) || (uint64_t)st.st_dev != m->device || (uint64_t)st.st_ino != m->inode)
		m->error = ESTALE;
}

/* Is a file that cannot be opened any more no ELF file?  The mapping is read in the process's memory, if it is of the beginning of the
 * file.  Returns false if that is not possible. */
static bool mapping_is_no_elf(const struct image_mapping *at, uint32_t pid)
{
	char magic[SELFMAG];

	return at->to_file + at->start == 0 && proc_mem_read((pid_t)pid, at->start, magic, sizeof(magic)) == 0 &&
	       memcmp(magic, ELFMAG, SELFMAG) != 0;
}

/* Does the file have other code than the process? Compares up to COMPARED_BYTES of the mapping. Called for a file without a reported build
 * id, which may have come to the path after another one was mapped from there. A few bytes may differ, because a debugger or the host
 * itself may have changed instructions. Returns false if one of the two cannot be read. */
static bool file_differs_from_memory(const struct image_mapping *at, uint32_t pid)
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
static bool open_image_file(struct image_files *f, struct image *m, const struct image_mapping *at)
{
	const size_t bytes = strlen(m->path), suffix = sizeof(DELETED) - 1;
	const bool deleted = bytes > suffix && strcmp(m->path + bytes - suffix, DELETED) == 0;
	bool keep = false;

	m->fd = f->past ? open_of_the_past(f, m) : deleted ? -1 : open_in_process_root(m);
	if (m->fd < 0 && !f->past) {
		m->fd = open_where_mapped(m, at);
		keep = m->fd >= 0;
	}
	if (m->fd < 0 && !f->past && !deleted)
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
	m->own_id_bytes = parts.build_id_bytes <= IMAGE_BUILD_ID_MAX ? parts.build_id_bytes : 0;
	memcpy(m->own_id, parts.build_id, m->own_id_bytes);
	elf_parts_free(&parts);
}

void image_files_need(struct image_files *f, const struct image_mapping *at, uint32_t pid)
{
	struct image *m = at->image;
	bool keep = f->nr_open < f->open_max;
	struct stat st;

	if (m->needed)
		return;
	m->needed = true;
	m->pid = pid;
	m->next_needed = f->needed;
	f->needed = m;
	if (m->vdso) {
		m->error = f->other_kernel ? ENOENT : 0;
		return;
	}
	keep |= open_image_file(f, m, at);
	f->nr_open += m->fd >= 0;
	if (m->fd >= 0 && fstat(m->fd, &st) == 0) {
		m->opened = true;
		m->bytes = (uint64_t)st.st_size;
		m->device = st.st_dev;
		m->inode = st.st_ino;
		read_own_build_id(m);
		if (!m->build_id_bytes && file_identity_is_known(&m->identity) && !f->past && S_ISREG(st.st_mode) &&
		    file_differs_from_memory(at, pid))
			m->error = ESTALE;
	}
	m->seen = calloc((m->bytes >> IMAGE_PAGE_SHIFT) / 64 + 1, sizeof(*m->seen));
	if (f->code && m->fd >= 0)
		m->samples = calloc((m->bytes >> IMAGE_CODE_LINE_SHIFT) + 1, sizeof(*m->samples));
	if (!keep && m->opened)
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
		if (has_mapped_build_id(m, &parts))
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
