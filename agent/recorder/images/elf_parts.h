/* SPDX-License-Identifier: MIT */
/*
 * The parts of an ELF file that analysis needs: headers, symbol tables, unwind and line tables; code, from which frames can be derived,
 * if there are no unwind tables.  The file is untrusted: every offset and size is compared with the size of the file before it is
 * used.  Context: thread.
 */
#ifndef TAILOR_ELF_PARTS_H
#define TAILOR_ELF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64
#define ELF_BUILD_ID_TEXT (2 * ELF_BUILD_ID_MAX + 1)
#define ELF_PARTS_MAX 64

struct elf_part {
	uint64_t file_offset;
	size_t nr;
	void *bytes; /* owned */
};

struct elf_parts {
	uint64_t file_bytes;
	uint32_t nr;
	struct elf_part part[ELF_PARTS_MAX];
	unsigned char build_id[ELF_BUILD_ID_MAX];
	uint32_t build_id_bytes;
	bool has_symbols; /* a .symtab */
	struct elf_part *go; /* a Go program's table of functions; NULL: none */
	uint64_t go_text; /* the address that its functions count from */
	struct elf_part *go_calls; /* where its inlined calls are: that table, or a part that they begin; NULL: not known */
	uint64_t go_calls_at; /* where they begin there */
	const struct elf_part *packed; /* .gnu_debugdata; NULL: it has none, or it was not asked for */
	char debug_link[256]; /* .gnu_debuglink: the name of the file that has them; "": it says none */
	uint32_t debug_link_crc;
	const char *left_out; /* a reason when something was too large to keep, else NULL */
};

/* frames: unwind tables as well.  Returns 0, -ENOEXEC (no ELF), -EBADMSG (not x86-64, or broken), or -errno. */
int elf_parts_read(int fd, bool frames, struct elf_parts *out);
/* Only the symbols, the build id, and what they are found by: of a debug file. */
int elf_parts_read_symbols(int fd, struct elf_parts *out);
/* Only .gnu_debugdata: an ELF file with the symbols that .dynsym lacks, in the format of xz. */
int elf_parts_read_packed(int fd, struct elf_parts *out);
/* Only the build id, and what it is found by. */
int elf_parts_read_build_id(int fd, struct elf_parts *out);
/* The kernel's vdso, from our own memory: all processes of a kernel have the same. */
int elf_parts_read_vdso(struct elf_parts *out);
/* The build id in hex; "": it has none. */
void elf_parts_format_build_id(const struct elf_parts *p, char text[ELF_BUILD_ID_TEXT]);
/* From an offset of the file: 0 or -errno. */
int elf_parts_read_at(int fd, uint64_t offset, void *to, size_t bytes);
/* One more part; -EBADMSG: it lies outside of the file, or there are too many. */
int elf_parts_add(int fd, struct elf_parts *p, uint64_t offset, uint64_t bytes);
void elf_parts_free(struct elf_parts *p);
/* The part that begins at an offset of the file and has so many bytes at least; NULL: it is not there, or bytes is 0. */
struct elf_part *elf_parts_find(struct elf_parts *p, uint64_t file_offset, uint64_t bytes);

#endif
