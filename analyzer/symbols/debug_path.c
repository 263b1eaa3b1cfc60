/* SPDX-License-Identifier: MIT */
/* Finds debug files in the folders of --debug-path.  Their symbols are read at once, and their lines when they are asked for. */
#include "analyzer/symbols/elf_internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_MAX 8
#define DEBUG_PATH_OF_MACHINE "/usr/lib/debug" /* folder of packages of debug symbols, in which recorders look, too */

static const char *folders[FOLDERS_MAX];
static size_t nr_folders;

bool debug_path_add(const char *folder)
{
	if (nr_folders == FOLDERS_MAX)
		return false;
	folders[nr_folders++] = folder;
	return true;
}

/* Copies bytes of a file to the same offset of an object, as a known part.  Returns false if they cannot be read or are out of the
 * object's bounds. */
static bool copy_part(struct elf_object *o, int fd, uint64_t offset, uint64_t bytes)
{
	return offset <= o->bytes && bytes <= o->bytes - offset && pread(fd, o->data + offset, bytes, (off_t)offset) == (ssize_t)bytes &&
	       elf_object_add_part(o, offset, o->data + offset, bytes) == 0;
}

/* Reads headers and symbol tables of a debug file.  Returns NULL if it has no symbol table, or if it cannot be read. */
static struct elf_object *read_symbols(int fd, Elf *elf, struct budget *budget)
{
	struct elf_object *o;
	bool has_symbols = false;
	Elf_Scn *scn = NULL;
	GElf_Ehdr h;
	GElf_Shdr s;
	struct stat st;

	if (fstat(fd, &st) || !gelf_getehdr(elf, &h) || elf_object_create((uint64_t)st.st_size, budget, &o, NULL))
		return NULL;
	if (copy_part(o, fd, 0, sizeof(Elf64_Ehdr)) && copy_part(o, fd, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr)))
		while ((scn = elf_nextscn(elf, scn)))
			if (gelf_getshdr(scn, &s) && (s.sh_type == SHT_SYMTAB || s.sh_type == SHT_STRTAB))
				has_symbols |= copy_part(o, fd, s.sh_offset, s.sh_size) && s.sh_type == SHT_SYMTAB;
	if (has_symbols && elf_object_open(o, NULL) == 0)
		return o;
	elf_object_destroy(o);
	return NULL;
}

static void take(struct elf_object *o, const char *path, const char *build_id)
{
	struct elf_object *debug;
	Elf *elf;
	int fd = elf_file_open(path, build_id, &elf);

	if (fd < 0)
		return;
	debug = elf_has_symbols(o) ? NULL : read_symbols(fd, elf, o->budget);
	elf_end(elf);
	close(fd);
	if (debug)
		elf_object_set_debug(o, debug);
	elf_object_add_lines(o, path, build_id);
}

void debug_path_search(struct elf_object *o, const char *path, const char *build_id)
{
	/* paths that distributions, debuginfod and perf use, and paths below a folder into which a package was unpacked */
	static const char *const by_id[] = { "%s/.build-id/%.2s/%s.debug", "%s/%.2s/%s.debug", "%s/usr/lib/debug/.build-id/%.2s/%s.debug",
					     "%s/.build-id/%.2s/%s/elf" };
	const char *name = basename(path);
	char at[PATH_MAX];

	for (size_t f = 0; f < nr_folders && strlen(build_id) > 2; f++) {
		for (size_t i = 0; i < sizeof(by_id) / sizeof(by_id[0]); i++)
			if (snprintf(at, sizeof(at), by_id[i], folders[f], build_id, build_id + 2) < (int)sizeof(at))
				take(o, at, build_id);
		if (snprintf(at, sizeof(at), "%s/%s/debuginfo", folders[f], build_id) < (int)sizeof(at))
			take(o, at, build_id);
		if (snprintf(at, sizeof(at), "%s/%s.debug", folders[f], name) < (int)sizeof(at))
			take(o, at, build_id);
		if (snprintf(at, sizeof(at), "%s/%s", folders[f], name) < (int)sizeof(at))
			take(o, at, build_id);
	}
}

void debug_path_search_machine(struct elf_object *o, const char *build_id)
{
	char at[PATH_MAX];

	if (strlen(build_id) > 2 && !elf_has_symbols(o) &&
	    snprintf(at, sizeof(at), DEBUG_PATH_OF_MACHINE "/.build-id/%.2s/%s.debug", build_id, build_id + 2) < (int)sizeof(at))
		take(o, at, build_id);
}
