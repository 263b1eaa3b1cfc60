/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/mapped_file.h"

#include "agent/recorder/images/debug_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/deleted_path.h"
#include "jitreg/base/mapping_kind.h"
#include "jitreg/base/regular_file.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define COMPARED_BYTES 16384u
#define DESCRIPTORS_LOOKED 1024 /* so many of a process are looked at for one of a file in memory */

/* Is the file a program or library of this machine's architecture? */
static bool is_of_this_machine(int fd)
{
	Elf64_Ehdr h;

	return pread(fd, &h, sizeof(h), 0) == sizeof(h) && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_machine == EM_X86_64;
}

int mapped_file_open_past(const struct image *m, bool foreign)
{
	int fd = regular_file_open(m->path), kept;

	if (fd >= 0 && foreign && is_of_this_machine(fd)) {
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

/* ------------------------------------------------------------------------------------------------------- ways to a file */

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

/* Opens the file of the mapping itself, whatever its path, which needs privileges. */
static int open_where_mapped(const struct image *m)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", proc_mem_number_in_proc(m->pid), (unsigned long long)m->start,
		 (unsigned long long)m->end);
	return regular_file_open(path);
}

/* Opens the program that the process executes, if it has the path of the mapping, or had it before it was replaced or removed. */
static int open_executed(const struct image *m)
{
	char path[64], exe[PATH_MAX];
	size_t bytes, of_path = deleted_path_bytes(m->path, strlen(m->path));
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", proc_mem_number_in_proc(m->pid));
	n = readlink(path, exe, sizeof(exe));
	if (n < 0)
		return -1;
	bytes = deleted_path_bytes(exe, (size_t)n);
	if (!path_is_of_memory_file(m->path) && (bytes != of_path || memcmp(exe, m->path, bytes) != 0)) {
		errno = ENOENT;
		return -1;
	}
	return regular_file_open(path);
}

/* Opens a file in memory by a descriptor that the process still has of it, which the user may do who owns the process. */
static int open_held(const struct image *m)
{
	const uint32_t pid = proc_mem_number_in_proc(m->pid);
	int fd = -1, left = DESCRIPTORS_LOOKED;
	char path[300];
	struct dirent *e;
	DIR *d;

	errno = ENOENT;
	if (!path_is_of_memory_file(m->path))
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	d = opendir(path);
	while (d && fd < 0 && left-- && (e = readdir(d))) {
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%u/fd/%s", pid, e->d_name);
		if (stat(path, &st) == 0 && st.st_ino == m->identity.inode && S_ISREG(st.st_mode))
			fd = regular_file_open(path);
	}
	if (d)
		closedir(d);
	return fd;
}

static int open_own_path(const struct image *m)
{
	return regular_file_open(m->path);
}

static const struct way {
	int (*way)(const struct image *m);
	bool by_path;
} ways[] = {
	{ open_in_process_root, true },
	{ open_where_mapped, false },
	{ open_executed, false },
	{ open_held, false },
	{ open_own_path, true },
};
#define NR_WAYS (sizeof(ways) / sizeof(*ways))

/* ------------------------------------------------------------------------------------------------- is it what is mapped */

/* Does the file have other code than the process? Compares up to COMPARED_BYTES of the mapping. A few bytes may differ, because a debugger
 * or the host itself may have changed instructions. Returns false if one of the two cannot be read. */
static bool file_differs_from_memory(const struct image *m, int fd)
{
	char file[COMPARED_BYTES], memory[COMPARED_BYTES];
	size_t bytes = m->end - m->start < COMPARED_BYTES ? m->end - m->start : COMPARED_BYTES, different = 0;
	ssize_t n = pread(fd, file, bytes, (off_t)m->offset);

	if (n <= 0 || proc_mem_read((pid_t)proc_mem_number_in_proc(m->pid), m->start, memory, (size_t)n))
		return false;
	for (ssize_t i = 0; i < n; i++)
		different += file[i] != memory[i];
	return different > (size_t)n / 64;
}

static bool file_has_inode_of(const struct image *m, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == m->identity.inode &&
	       ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)) == m->identity.device;
}

enum fit { DIFFERS, MAY_FIT, FITS };

static enum fit fit_of_file(const struct image *m, int fd)
{
	if (m->build_id_bytes)
		return debug_file_has_id(fd, m->build_id, m->build_id_bytes) ? FITS : DIFFERS;
	if (!file_identity_is_known(&m->identity)) /* only the path is known */
		return FITS;
	if (file_differs_from_memory(m, fd))
		return DIFFERS;
	return file_has_inode_of(m, fd) ? FITS : MAY_FIT;
}

/* Is a file that cannot be opened any more no ELF file?  The mapping is read in the process's memory, if it is of the beginning of the
 * file.  Returns false if that is not possible. */
static bool mapping_is_no_elf(const struct image *m)
{
	const pid_t pid = (pid_t)proc_mem_number_in_proc(m->pid);
	char magic[SELFMAG];

	return m->offset == 0 && proc_mem_read(pid, m->start, magic, sizeof(magic)) == 0 && memcmp(magic, ELFMAG, SELFMAG) != 0;
}

int mapped_file_open(const struct image *m, bool *by_path)
{
	const bool deleted = m->path[deleted_path_bytes(m->path, strlen(m->path))] != 0;
	enum fit best = DIFFERS, fit;
	int found = -1, error = ENOENT;

	for (size_t i = 0; i < NR_WAYS && best < FITS; i++) {
		int fd = deleted && ways[i].by_path ? -1 : ways[i].way(m);

		if (fd < 0) {
			error = deleted || error == ESTALE ? error : errno;
			continue;
		}
		fit = fit_of_file(m, fd);
		if (fit > best) {
			if (found >= 0)
				close(found);
			found = fd;
			best = fit;
			*by_path = ways[i].by_path;
		} else {
			close(fd);
			error = fit == DIFFERS ? ESTALE : error;
		}
	}
	if (found < 0)
		errno = deleted && mapping_is_no_elf(m) ? ENOEXEC : error;
	return found;
}
