/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/elf_parts.h"

#include "jitreg/base/planted.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define MERGED_MAX (48u << 20) /* maximum number of bytes of one file's sections; a trace chunk holds 64 MiB */
#define SECTIONS_MAX 4096u

/* Sections are chosen by name, because debug sections all have the same type, and read in this order. A section for which there is no room
 * is left out. (.eh_frame_hdr is not read, because it only repeats .eh_frame.) */
static const char *const wanted_parts[] = {
	".symtab", ".strtab", ".dynsym", ".dynstr", ".shstrtab", ".gopclntab", ".data.rel.ro.gopclntab", ".eh_frame", ".debug_frame",
	".plt", ".plt.got", ".plt.sec", ".rela.plt", ".dynamic", ".note.gnu.build-id", ".debug_line",
	".debug_line_str", ".debug_info", ".debug_abbrev", ".debug_str", ".debug_str_offsets", ".debug_addr",
	".debug_ranges", ".debug_rnglists", ".debug_aranges", ".gnu_debuglink", ".text", NULL,
};
static const char *const wanted_packed[] = { ".note.gnu.build-id", ".gnu_debugdata", NULL };
static const char *const wanted_build_id[] = { ".note.gnu.build-id", NULL };
static const char *const wanted_symbols[] = { ".symtab", ".strtab", ".shstrtab", ".note.gnu.build-id", NULL };

/* If unwind tables have at most FRAMES_FEW bytes, which every program is linked with, .text is read too, because frames can be derived from
 * code.  A larger .text than TEXT_MAX is left out. */
#define FRAMES_FEW 256u
#define TEXT_MAX (1u << 20)

int elf_parts_read_at(int fd, uint64_t offset, void *to, size_t bytes)
{
	const void *begin = to;
	const size_t all = bytes;

	while (bytes > 0) {
		ssize_t n = pread(fd, to, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		to = (char *)to + n;
		offset += (size_t)n;
		bytes -= (size_t)n;
	}
	planted_fault("elf", begin, all);
	return 0;
}

int elf_parts_add(int fd, struct elf_parts *p, uint64_t offset, uint64_t bytes)
{
	struct elf_part *part = &p->part[p->nr];
	int ret;

	if (bytes == 0)
		return 0;
	if (offset > p->file_bytes || bytes > p->file_bytes - offset || p->nr == ELF_PARTS_MAX)
		return -EBADMSG;
	part->bytes = malloc(bytes);
	if (!part->bytes)
		return -ENOMEM;
	ret = elf_parts_read_at(fd, offset, part->bytes, bytes);
	if (ret) {
		free(part->bytes);
		return ret;
	}
	part->file_offset = offset;
	part->nr = bytes;
	p->nr++;
	return 0;
}

static void find_build_id(struct elf_parts *p, const unsigned char *note, size_t bytes)
{
	Elf64_Nhdr n;

	while (bytes >= sizeof(n)) {
		size_t name, desc;

		memcpy(&n, note, sizeof(n));
		name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)n.n_descsz + 3) & ~(size_t)3;
		if (name > bytes - sizeof(n) || desc > bytes - sizeof(n) - name)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(note + sizeof(n), "GNU", 4) == 0 &&
		    n.n_descsz <= ELF_BUILD_ID_MAX) {
			memcpy(p->build_id, note + sizeof(n) + name, n.n_descsz);
			p->build_id_bytes = n.n_descsz;
			return;
		}
		note += sizeof(n) + name + desc;
		bytes -= sizeof(n) + name + desc;
	}
}

/* Reads the section .gnu_debuglink, which has a name, NUL, padding to four bytes, and the checksum of the file. */
static void find_debug_link(struct elf_parts *p, const char *section, size_t bytes)
{
	size_t name = strnlen(section, bytes), crc = (name + 4) & ~(size_t)3;

	if (name == 0 || name >= sizeof(p->debug_link) || crc + 4 > bytes || memchr(section, '/', name))
		return;
	memcpy(p->debug_link, section, name);
	memcpy(&p->debug_link_crc, section + crc, 4);
}

/* Is this the section of Go's table of functions, by its later name or by its earlier one in position-independent files? */
static bool is_go(const char *name)
{
	return strcmp(name, ".gopclntab") == 0 || strcmp(name, ".data.rel.ro.gopclntab") == 0;
}

/* Sets the members of p that depend on the section of this name, which was just read as the last part. */
static void note_section_content(struct elf_parts *p, const char *name)
{
	const struct elf_part *part = &p->part[p->nr - 1];

	if (strcmp(name, ".note.gnu.build-id") == 0)
		find_build_id(p, part->bytes, part->nr);
	else if (strcmp(name, ".gnu_debuglink") == 0)
		find_debug_link(p, part->bytes, part->nr);
	else if (strcmp(name, ".symtab") == 0)
		p->has_symbols = true;
	else if (is_go(name))
		p->go = &p->part[p->nr - 1];
	else if (strcmp(name, ".gnu_debugdata") == 0)
		p->packed = part;
}

/* Has the section this name?  ".zdebug_x" is a compressed ".debug_x". */
static bool is_named(const char *section, const char *name)
{
	return strcmp(section, name) == 0 ||
	       (strncmp(section, ".zdebug_", 8) == 0 && name[0] == '.' && strcmp(section + 2, name + 1) == 0);
}

static bool is_frame_section(const char *name)
{
	return is_named(name, ".eh_frame") || is_named(name, ".debug_frame");
}

/* Is a section wanted?  frames_bytes: bytes of all sections of frames, Go's table included. */
static bool is_section_wanted(const char *name, const Elf64_Shdr *s, bool frames, uint64_t frames_bytes)
{
	if (strcmp(name, ".text") == 0)
		return frames && frames_bytes <= FRAMES_FEW && s->sh_size <= TEXT_MAX;
	return frames || !is_frame_section(name);
}

static uint64_t sum_frame_section_bytes(const Elf64_Shdr *s, int nr, const char *names, uint64_t names_bytes)
{
	uint64_t sum = 0;

	for (int i = 0; i < nr; i++)
		if (s[i].sh_name < names_bytes && s[i].sh_type != SHT_NOBITS &&
		    (is_frame_section(names + s[i].sh_name) || is_go(names + s[i].sh_name)))
			sum += s[i].sh_size < UINT32_MAX ? s[i].sh_size : UINT32_MAX;
	return sum;
}

static int read_wanted_sections(int fd, struct elf_parts *p, const Elf64_Ehdr *h, const char *const *wanted, bool frames, uint64_t *kept)
{
	uint64_t frames_bytes = 0;
	Elf64_Shdr *s;
	char *names = NULL;
	int ret = 0;

	if (h->e_shnum == 0)
		return 0;
	if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum > SECTIONS_MAX)
		return -EBADMSG;
	ret = elf_parts_add(fd, p, h->e_shoff, (uint64_t)h->e_shnum * sizeof(*s));
	if (ret || h->e_shstrndx >= h->e_shnum)
		return ret;
	s = p->part[p->nr - 1].bytes;
	if (s[h->e_shstrndx].sh_size > MERGED_MAX || s[h->e_shstrndx].sh_size == 0)
		return -EBADMSG;
	names = calloc(1, s[h->e_shstrndx].sh_size + 1);
	if (!names)
		return -ENOMEM;
	ret = elf_parts_read_at(fd, s[h->e_shstrndx].sh_offset, names, s[h->e_shstrndx].sh_size);
	if (ret == 0)
		frames_bytes = sum_frame_section_bytes(s, h->e_shnum, names, s[h->e_shstrndx].sh_size);
	for (size_t n = 0; ret == 0 && wanted[n]; n++)
		for (int i = 0; ret == 0 && i < h->e_shnum; i++) {
			if (s[i].sh_name >= s[h->e_shstrndx].sh_size || s[i].sh_type == SHT_NOBITS ||
			    !is_named(names + s[i].sh_name, wanted[n]) || !is_section_wanted(wanted[n], &s[i], frames, frames_bytes))
				continue;
			if (s[i].sh_size > MERGED_MAX - *kept) {
				p->left_out = "large sections omitted";
				continue;
			}
			ret = elf_parts_add(fd, p, s[i].sh_offset, s[i].sh_size);
			if (ret == -EBADMSG) {
				p->left_out = "sections beyond the end of the file omitted";
				ret = 0;
				continue;
			}
			*kept += s[i].sh_size;
			if (ret == 0 && s[i].sh_size)
				note_section_content(p, wanted[n]);
		}
	free(names);
	return ret;
}

/* Reads the program headers, and if the file has no section headers the build id from segments. */
static int read_segment_headers(int fd, struct elf_parts *p, const Elf64_Ehdr *h)
{
	const Elf64_Phdr *ph;
	uint32_t part = p->nr;
	int ret;

	if (h->e_phnum == 0 || h->e_phentsize != sizeof(*ph) || h->e_phnum > SECTIONS_MAX)
		return -EBADMSG;
	ret = elf_parts_add(fd, p, h->e_phoff, (uint64_t)h->e_phnum * sizeof(*ph));
	if (ret)
		return ret;
	ph = p->part[part].bytes;
	for (int i = 0; i < h->e_phnum && h->e_shnum == 0; i++)
		if (ph[i].p_type == PT_NOTE && ph[i].p_filesz < 65536) {
			if (elf_parts_add(fd, p, ph[i].p_offset, ph[i].p_filesz) == 0 && ph[i].p_filesz)
				find_build_id(p, p->part[p->nr - 1].bytes, p->part[p->nr - 1].nr);
		}
	return 0;
}

static int read_elf_parts(int fd, const char *const *wanted, bool frames, struct elf_parts *out)
{
	Elf64_Ehdr h;
	struct stat st;
	uint64_t kept = 0;
	int ret;

	*out = (struct elf_parts){ 0 };
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	out->file_bytes = (uint64_t)st.st_size;
	ret = elf_parts_read_at(fd, 0, &h, sizeof(h));
	if (ret == 0 && memcmp(h.e_ident, ELFMAG, SELFMAG))
		ret = -ENOEXEC;
	if (ret == 0 && (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB))
		ret = -EBADMSG;
	if (ret == 0)
		ret = elf_parts_add(fd, out, 0, sizeof(h));
	if (ret == 0)
		ret = read_segment_headers(fd, out, &h);
	if (ret == 0)
		ret = read_wanted_sections(fd, out, &h, wanted, frames, &kept);
	if (ret)
		elf_parts_free(out);
	return ret;
}

int elf_parts_read(int fd, bool frames, struct elf_parts *out)
{
	return read_elf_parts(fd, wanted_parts, frames, out);
}

int elf_parts_read_symbols(int fd, struct elf_parts *out)
{
	return read_elf_parts(fd, wanted_symbols, false, out);
}

int elf_parts_read_packed(int fd, struct elf_parts *out)
{
	return read_elf_parts(fd, wanted_packed, false, out);
}

int elf_parts_read_build_id(int fd, struct elf_parts *out)
{
	return read_elf_parts(fd, wanted_build_id, false, out);
}

int elf_parts_read_vdso(struct elf_parts *out)
{
	const unsigned char *base = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr h;
	uint64_t bytes;

	*out = (struct elf_parts){ 0 };
	if (!base)
		return -ENOENT;
	memcpy(&h, base, sizeof(h));
	bytes = h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize; /* the section headers are the last part of the vdso */
	out->part[0].bytes = malloc(bytes);
	if (!out->part[0].bytes)
		return -ENOMEM;
	memcpy(out->part[0].bytes, base, bytes);
	out->part[0].nr = bytes;
	out->nr = 1;
	out->file_bytes = bytes;
	for (int i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, base + h.e_phoff + (size_t)i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_NOTE)
			find_build_id(out, base + ph.p_offset, ph.p_filesz);
	}
	return 0;
}

void elf_parts_format_build_id(const struct elf_parts *p, char text[ELF_BUILD_ID_TEXT])
{
	text[0] = 0;
	for (size_t n = 0; n < p->build_id_bytes; n++)
		snprintf(text + 2 * n, 3, "%02x", p->build_id[n]);
}

void elf_parts_free(struct elf_parts *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		free(p->part[i].bytes);
	*p = (struct elf_parts){ 0 };
}

struct elf_part *elf_parts_find(struct elf_parts *p, uint64_t file_offset, uint64_t bytes)
{
	for (uint32_t i = 0; bytes && i < p->nr; i++)
		if (p->part[i].file_offset == file_offset && p->part[i].nr >= bytes)
			return &p->part[i];
	return NULL;
}
