/* SPDX-License-Identifier: MIT */
#include "analyzer/symbols/machine_file.h"

#include "analyzer/symbols/elf_internal.h"
#include "jitreg/base/regular_file.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FILES_MAX 256u
/* This is the maximum number of bytes that are read of all files together. A file beyond this limit has no names until the recorder has
 * written them into the trace. */
#define PARTS_BYTES ((uint64_t)256 << 20)
#define BUILD_ID_MAX 20

static struct machine_file {
	struct file_identity identity;
	struct elf_object *elf; /* NULL: it cannot be read */
	struct budget budget;	/* for all questions to elf; a trace's budget would be freed before elf */
	char key[2 * BUILD_ID_MAX + 1];
} files[FILES_MAX];
static uint32_t nr_files;
static uint64_t nr_bytes;

static struct file_identity identity_of(const struct stat *st)
{
	return (struct file_identity){ (uint64_t)major(st->st_dev) << 32 | minor(st->st_dev), st->st_ino, 0 };
}

/* Is this a section that is needed to name addresses or to unwind from them? */
static bool section_is_wanted(const GElf_Shdr *s, const char *name)
{
	static const char *const wanted[] = { ".eh_frame", ".eh_frame_hdr", ".plt", ".plt.sec", ".plt.got", ".rela.plt", ".gopclntab" };

	if (s->sh_type == SHT_NOBITS)
		return false;
	if (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM || s->sh_type == SHT_STRTAB)
		return true;
	for (size_t i = 0; name && i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (strcmp(name, wanted[i]) == 0)
			return true;
	return false;
}

static bool copy_file_part(struct elf_object *o, int fd, uint64_t offset, uint64_t bytes)
{
	if (offset > o->bytes || bytes > o->bytes - offset || bytes > PARTS_BYTES - nr_bytes)
		return false;
	nr_bytes += bytes;
	return pread(fd, o->data + offset, bytes, (off_t)offset) == (ssize_t)bytes &&
	       elf_object_add_part(o, offset, o->data + offset, bytes) == 0;
}

static struct elf_object *read_parts(int fd, uint64_t bytes, Elf *elf, struct budget *budget)
{
	struct elf_object *o;
	Elf_Scn *scn = NULL;
	GElf_Ehdr h;
	GElf_Shdr s;
	size_t names;
	bool ok;

	if (!gelf_getehdr(elf, &h) || elf_getshdrstrndx(elf, &names) || elf_object_create(bytes, budget, &o, NULL))
		return NULL;
	ok = copy_file_part(o, fd, 0, sizeof(Elf64_Ehdr)) && copy_file_part(o, fd, h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr)) &&
	     copy_file_part(o, fd, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr));
	while (ok && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &s) && section_is_wanted(&s, elf_strptr(elf, names, s.sh_name)))
			ok = copy_file_part(o, fd, s.sh_offset, s.sh_size);
	if (ok && elf_object_open(o, NULL) == 0)
		return o;
	elf_object_destroy(o);
	return NULL;
}

static void read_file(struct machine_file *f, int fd, const struct stat *st, const char *path)
{
	struct diag d;
	Elf *elf;
	const void *id;
	ssize_t nr;

	if (budget_open(&f->budget, (size_t)st->st_size, &d))
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL); /* the file is not mapped, so that it causes no SIGBUS if it becomes shorter */
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64) {
		nr = dwelf_elf_gnu_build_id(elf, &id);
		for (ssize_t i = 0; i < nr && i < BUILD_ID_MAX; i++)
			snprintf(f->key + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
		f->elf = read_parts(fd, (uint64_t)st->st_size, elf, &f->budget);
	}
	elf_end(elf);
	if (!f->elf || !*f->key)
		return;
	debug_path_search_machine(f->elf, f->key); /* the recorder writes these symbols into the trace only at its end */
	elf_object_add_lines(f->elf, path, f->key);
}

/* Returns the entry of an open file, which is read if it is new, or NULL if there are too many files. */
static const struct machine_file *known_or_read(int fd, const struct stat *st, const char *path)
{
	const struct file_identity identity = identity_of(st);

	for (uint32_t i = 0; i < nr_files; i++)
		if (file_identity_is_same(&files[i].identity, &identity))
			return &files[i];
	if (nr_files == FILES_MAX)
		return NULL;
	files[nr_files].identity = identity;
	read_file(&files[nr_files], fd, st, path);
	return &files[nr_files++];
}

struct elf_object *machine_file_find(uint32_t pid, const char *path, const struct file_identity *identity, const char *build_id,
				     const char **key)
{
	char at[4200];

	for (int own = 0; own < 2; own++) {
		const struct machine_file *f = NULL;
		struct stat st;
		int fd;

		if (own)
			snprintf(at, sizeof(at), "%s", path);
		else
			snprintf(at, sizeof(at), "/proc/%u/root%s", pid, path);
		fd = regular_file_open_at(AT_FDCWD, at, true, &st);
		if (fd < 0)
			continue;
		f = known_or_read(fd, &st, at);
		close(fd);
		if (!f || !f->elf)
			continue;
		if (file_identity_is_known(identity) ? file_identity_is_same(identity, &f->identity) :
						       *build_id && strcmp(build_id, f->key) == 0) {
			*key = f->key;
			return f->elf;
		}
	}
	return NULL;
}
