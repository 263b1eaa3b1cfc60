/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/debug_file.h"

#include "agent/recorder/images/debuginfod.h"
#include "agent/recorder/images/xz.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CRC_BYTES_MAX (64u << 20) /* largest file whose checksum is compared, which takes time to compute */

struct search {
	const struct elf_parts *of;
	uint32_t pid;
	uint64_t *left;
	struct elf_parts *found;
	char *where;
};

static bool take(uint64_t *left, uint64_t bytes)
{
	if (bytes > *left)
		return false;
	*left -= bytes;
	return true;
}

/* Computes the CRC-32 of zlib, gzip and .gnu_debuglink (gdb's documentation, "Debugging Information in Separate Files"). */
static uint32_t crc32_of_file(int fd)
{
	static uint32_t table[256];
	unsigned char bytes[65536];
	uint32_t crc = UINT32_MAX;
	ssize_t n;
	off_t at = 0;

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
		table[i] = c;
	}
	for (; (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		for (ssize_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
	return ~crc;
}

static bool is_debug_file_of_image(const struct search *s, int fd)
{
	const struct elf_parts *a = s->of, *b = s->found;

	if (a->build_id_bytes && b->build_id_bytes)
		return a->build_id_bytes == b->build_id_bytes && memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
	return a->debug_link[0] && b->file_bytes <= CRC_BYTES_MAX && take(s->left, b->file_bytes) &&
	       crc32_of_file(fd) == a->debug_link_crc;
}

static bool try_debug_path(const struct search *s, const char *root, const char *path)
{
	char all[PATH_MAX];
	bool good = false, of_another = false;
	int fd = snprintf(all, sizeof(all), "%s%s", root, path) < (int)sizeof(all) ? regular_file_open(all) : -1;

	if (fd < 0)
		return false;
	if (elf_parts_read_symbols(fd, s->found) == 0) {
		good = s->found->has_symbols && is_debug_file_of_image(s, fd);
		of_another = s->found->has_symbols && !good;
		if (!good)
			elf_parts_free(s->found);
	}
	close(fd);
	if (good)
		snprintf(s->where, DEBUG_FILE_TEXT, "%s", path);
	else if (of_another && !*s->where)
		snprintf(s->where, DEBUG_FILE_TEXT, "the debug file %s is of another build", path);
	return good;
}

/* Tries a path in the process's view of files, which may be a container's, unless pid is 0, and then in the recorder's. */
static bool try_debug_path_both_roots(const struct search *s, const char *path)
{
	char root[32];

	snprintf(root, sizeof(root), "/proc/%u/root", s->pid);
	return (s->pid && try_debug_path(s, root, path)) || try_debug_path(s, "", path);
}

static bool find_by_debug_link(const struct search *s, const char *path)
{
	static const char *const forms[] = { "%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s" };
	const char *slash = strrchr(path, '/');
	char name[PATH_MAX];

	for (size_t i = 0; slash && s->of->debug_link[0] && i < sizeof(forms) / sizeof(forms[0]); i++)
		if (snprintf(name, sizeof(name), forms[i], (int)(slash - path), path, s->of->debug_link) < (int)sizeof(name) &&
		    strcmp(name, path) != 0 && try_debug_path_both_roots(s, name))
			return true;
	return false;
}

/* Makes the path of a build id in perf's cache. Returns false if there is no build id, if HOME is not set, or if the path is too long. */
static bool perf_cache_path(const char *id, char name[PATH_MAX])
{
	const char *home = getenv("HOME");

	return home && id[0] && snprintf(name, PATH_MAX, "%s/.debug/.build-id/%.2s/%s/elf", home, id, id + 2) < PATH_MAX;
}

/* Searches the recording user's caches, first perf's in HOME, and then debuginfod's in the folder that the environment names or in HOME. */
static bool find_in_debug_caches(const struct search *s, const char *id)
{
	const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME"), *debuginfod = getenv("DEBUGINFOD_CACHE_PATH");
	char name[PATH_MAX];

	if (perf_cache_path(id, name) && try_debug_path(s, "", name))
		return true;
	if (debuginfod)
		snprintf(name, sizeof(name), "%s/%s/debuginfo", debuginfod, id);
	else if (cache)
		snprintf(name, sizeof(name), "%s/debuginfod_client/%s/debuginfo", cache, id);
	else
		snprintf(name, sizeof(name), "%s/.cache/debuginfod_client/%s/debuginfo", home ? home : "", id);
	return try_debug_path(s, "", name);
}

static void say_why_not_unpacked(const struct search *s, int error)
{
	if (!*s->where)
		snprintf(s->where, DEBUG_FILE_TEXT, "those in its .gnu_debugdata %s",
			 error == -EFBIG ? "would take too much memory" : error == -EBADMSG ? "are damaged" : strerror(-error));
}

/* Unpacks the file's own .gnu_debugdata, which has only the names of functions that .dynsym lacks.  Returns false if there are none, or if
 * they cannot be unpacked. */
static bool find_packed_symbols(const struct search *s, int fd, const char *path)
{
	struct elf_parts packed;
	uint64_t most = *s->left < XZ_BYTES_MAX ? *s->left : XZ_BYTES_MAX, used = 0;
	int symbols;

	if (elf_parts_read_packed(fd, &packed))
		return false;
	symbols = packed.packed ? xz_unpack(packed.packed->bytes, packed.packed->nr, most, &used) : -ENOENT;
	elf_parts_free(&packed);
	*s->left -= used;
	if (symbols >= 0) {
		if (elf_parts_read_symbols(symbols, s->found) == 0 && !s->found->has_symbols)
			elf_parts_free(s->found);
		close(symbols);
	}
	if (s->found->has_symbols)
		snprintf(s->where, DEBUG_FILE_TEXT, "%s", path);
	else if (symbols != -ENOENT)
		say_why_not_unpacked(s, symbols < 0 ? symbols : -EBADMSG);
	return s->found->has_symbols;
}

static bool find_on_servers(const struct search *s, struct debuginfod *servers, const char *path)
{
	char at[PATH_MAX];

	return debuginfod_fetch(servers, s->of->build_id, s->of->build_id_bytes, basename(path), at) && try_debug_path(s, "", at);
}

bool debug_file_find(const struct elf_parts *of, int fd, const char *path, uint32_t pid, struct debuginfod *servers, uint64_t *left,
		     struct elf_parts *found, char where[DEBUG_FILE_TEXT])
{
	const struct search s = { of, pid, left, found, where };
	char id[ELF_BUILD_ID_TEXT], name[PATH_MAX];

	*found = (struct elf_parts){ 0 };
	*where = 0;
	elf_parts_format_build_id(of, id);
	snprintf(name, sizeof(name), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, of->build_id_bytes > 1 ? id + 2 : "");
	return (of->build_id_bytes > 1 && try_debug_path_both_roots(&s, name)) || find_by_debug_link(&s, path) ||
	       (of->build_id_bytes > 1 && find_in_debug_caches(&s, id)) || (fd >= 0 && find_packed_symbols(&s, fd, path)) ||
	       (servers && of->build_id_bytes > 1 && find_on_servers(&s, servers, path));
}

bool debug_file_has_id(int fd, const unsigned char *build_id, uint32_t bytes)
{
	struct elf_parts parts;
	bool same;

	if (elf_parts_read_build_id(fd, &parts))
		return false;
	same = parts.build_id_bytes == bytes && memcmp(parts.build_id, build_id, bytes) == 0;
	elf_parts_free(&parts);
	return same;
}

int debug_file_open_kept(const unsigned char *build_id, uint32_t bytes)
{
	struct elf_parts of = { .build_id_bytes = bytes <= ELF_BUILD_ID_MAX ? bytes : 0 };
	char id[ELF_BUILD_ID_TEXT], name[PATH_MAX];
	int fd;

	memcpy(of.build_id, build_id, of.build_id_bytes);
	elf_parts_format_build_id(&of, id);
	if (of.build_id_bytes < 2 || !perf_cache_path(id, name))
		return -1;
	fd = regular_file_open(name);
	if (fd >= 0 && !debug_file_has_id(fd, build_id, bytes)) {
		close(fd);
		return -1;
	}
	return fd;
}
