/* SPDX-License-Identifier: MIT */
/* Opens ELF files of the machine that reads a trace.  A file is used only if its build id is the one in the trace. */
#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/regular_file.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 24u /* bytes that are read of a compressed section; its header is not longer */

static bool has_build_id(Elf *elf, const char *build_id)
{
	const void *bytes;
	ssize_t nr = dwelf_elf_gnu_build_id(elf, &bytes);
	size_t length = strlen(build_id);
	char hex[3];

	for (ssize_t i = 0; i < nr; i++) {
		snprintf(hex, sizeof(hex), "%02x", ((const unsigned char *)bytes)[i]);
		if ((size_t)i >= length / 2 || memcmp(hex, build_id + 2 * i, 2) != 0)
			return false;
	}
	return nr > 0 && (size_t)nr == length / 2;
}

/* Returns the bytes of memory that libdw takes for debug sections. libdw reads each of them as a whole, and inflates compressed ones.
 * Returns UINT64_MAX if the file is malformed. */
static uint64_t bytes_of_debug_sections(Elf *elf)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return UINT64_MAX;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;
		struct section s = { 0 };
		Elf_Data *head;
		GElf_Shdr h;

		if (!gelf_getshdr(scn, &h) || !(name = elf_strptr(elf, names, h.sh_name)) || !strstr(name, "debug"))
			continue;
		s.name = name;
		s.flags = h.sh_flags;
		s.bytes = h.sh_size;
		if (h.sh_size > ELF_FILE_BYTES_MAX)
			return UINT64_MAX;
		if ((h.sh_flags & SHF_COMPRESSED || strncmp(name, ".zdebug", 7) == 0) && h.sh_type != SHT_NOBITS) {
			/* only the header of the section's data is read */
			head = elf_getdata_rawchunk(elf, (int64_t)h.sh_offset, h.sh_size < HEAD_BYTES ? h.sh_size : HEAD_BYTES, ELF_T_BYTE);
			s.data = head ? head->d_buf : NULL;
			elf_note_compression(&s);
		}
		sum = s.bytes > UINT64_MAX - sum - h.sh_size ? UINT64_MAX - h.sh_size : sum + s.bytes;
		sum += h.sh_size;
	}
	return sum;
}

bool elf_texts_end(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		struct section s = { 0 };
		Elf_Data *data;
		GElf_Shdr h;

		s.name = gelf_getshdr(scn, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
		if (!elf_is_named(&s, ".debug_str") && !elf_is_named(&s, ".debug_line_str") && !elf_is_named(&s, ".debug_info"))
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf && data->d_size && ((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

bool elf_file_fits(const struct elf_object *o, Elf *elf)
{
	return !o->budget || budget_has_room(o->budget, bytes_of_debug_sections(elf));
}

/* Returns the path that libdw would make of a folder and a name, or NULL if none can be made.  The caller frees it. */
static char *make_path(const struct elf_object *o, const char *folder, const char *name)
{
	char link[32], *own, *path = NULL;

	if (name[0] == '/')
		return strdup(name);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", o->dwarf_fd);
	own = folder && folder[0] == '/' ? strdup("") : realpath(link, NULL);
	if (own && strrchr(own, '/'))
		strrchr(own, '/')[0] = 0;
	if (!own || asprintf(&path, "%s/%s/%s", own, folder ? folder : "", name) < 0)
		path = NULL;
	free(own);
	return path;
}

bool elf_path_fits(const struct elf_object *o, const char *folder, const char *name)
{
	char *path = make_path(o, folder, name);
	int fd = path ? regular_file_open(path) : -1;
	struct stat st;
	bool fits;
	Elf *elf;

	if (fd < 0) { /* the path fits if nothing or a folder is there, and not if it is a FIFO, a device or an unreadable file */
		fits = !path || stat(path, &st) != 0 || S_ISDIR(st.st_mode);
		free(path);
		return fits;
	}
	free(path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	fits = elf && (elf_kind(elf) != ELF_K_ELF || elf_file_fits(o, elf));
	elf_end(elf);
	close(fd);
	return fits;
}

int elf_file_open(const char *path, const char *build_id, Elf **elf)
{
	int fd = regular_file_open(path);

	*elf = NULL;
	if (fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	*elf = elf_begin(fd, ELF_C_READ, NULL); /* the file is not mapped, so that it causes no SIGBUS if it becomes shorter */
	if (*elf && elf_kind(*elf) == ELF_K_ELF && has_build_id(*elf, build_id))
		return fd;
	elf_end(*elf);
	*elf = NULL;
	close(fd);
	return -1;
}

bool elf_file_is(const char *path, const char *build_id)
{
	Elf *elf;
	int fd = elf_file_open(path, build_id, &elf);

	if (fd < 0)
		return false;
	elf_end(elf);
	close(fd);
	return true;
}
