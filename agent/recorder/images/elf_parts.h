/* SPDX-License-Identifier: MIT */
/*
 * Reads the parts of an ELF file that analysis needs: headers, symbol tables, unwind and line tables, and, if there are hardly any unwind
 * tables, code, from which frames can be derived. A file is untrusted, so no offset or size in it is relied on before it was checked. The
 * vdso is the kernel's, and is trusted. Context: thread.
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
	bool has_symbols; /* .symtab is one of the parts */
	struct elf_part *go; /* a Go program's table of functions; NULL: none */
	uint64_t go_text; /* address to which the addresses of its functions are relative */
	struct elf_part *go_calls; /* the part with its inlined calls: the table itself or another one; NULL: unknown */
	uint64_t go_calls_at; /* offset of the inlined calls in that part */
	const struct elf_part *packed; /* .gnu_debugdata; NULL: there is none, or it was not asked for */
	char debug_link[256]; /* name of the file with symbols, from .gnu_debuglink; "": none */
	uint32_t debug_link_crc;
	const char *left_out; /* reason if some sections are missing because they were too large or beyond the file's end, else NULL */
};

/* Reads the parts of a file. frames: unwind tables as well. Returns 0, -ENOEXEC (no ELF), -EBADMSG (not of 64 bits and little-endian, not a
 * regular file, too short, or broken), or -errno. After an error nothing has to be freed. The three functions below return the same. */
int elf_parts_read(int fd, bool frames, struct elf_parts *out);
/* Reads only symbols and build id of a debug file, and the headers by which they are found. */
int elf_parts_read_symbols(int fd, struct elf_parts *out);
/* Reads only .gnu_debugdata, an ELF file in the format of xz with the symbols that .dynsym lacks, the build id, and the headers by which
 * they are found. */
int elf_parts_read_packed(int fd, struct elf_parts *out);
/* Reads only the build id, and the headers by which it is found. */
int elf_parts_read_build_id(int fd, struct elf_parts *out);
/* Reads the kernel's vdso from the recorder's own memory, since all processes of a kernel have the same. Returns 0, -ENOENT if there is
 * none, or -ENOMEM. */
int elf_parts_read_vdso(struct elf_parts *out);
/* Formats the build id in hex, or as "" if there is none. */
void elf_parts_format_build_id(const struct elf_parts *p, char text[ELF_BUILD_ID_TEXT]);
/* Reads bytes at an offset of the file.  Returns 0, or -errno (-EBADMSG: the file ends before). */
int elf_parts_read_at(int fd, uint64_t offset, void *to, size_t bytes);
/* Reads one more part, unless bytes is 0.  Returns 0, -EBADMSG if it lies outside of the file or if there are too many parts, or -errno. */
int elf_parts_add(int fd, struct elf_parts *p, uint64_t offset, uint64_t bytes);
void elf_parts_free(struct elf_parts *p);
/* Finds the part that begins at an offset of the file and has at least this many bytes. Returns NULL if there is none, or if bytes is 0. */
struct elf_part *elf_parts_find(struct elf_parts *p, uint64_t file_offset, uint64_t bytes);

#endif
