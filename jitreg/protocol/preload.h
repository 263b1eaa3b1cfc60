/* SPDX-License-Identifier: MIT */
/*
 * Checks whether a program can load libtailor.so by LD_PRELOAD without failing.  The recorder does this before it starts a command, and the
 * guest before each exec of its process.  The file is untrusted: its numbers are only used as offsets to read at, and every loop is
 * bounded.  No memory but the stack is used.  Context: any, also signal.
 */
#ifndef TAILOR_PRELOAD_H
#define TAILOR_PRELOAD_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PRELOAD_HEADERS_MAX 64
#define PRELOAD_ENTRIES_MAX 1024 /* entries of the dynamic section */
#define PRELOAD_NAME_BYTES 64
/* A program with lower limits (ulimit -v, -d) is not preloaded, because it may need the memory itself that the library would take: 0.9 MiB,
 * and a log of a 64th of the address space that the limit leaves, 64 KiB at least. */
#define PRELOAD_ADDRESS_SPACE_MIN (64ull << 20)
#define PRELOAD_DATA_MIN (32ull << 20)

enum preload_fit {
	PRELOAD_FITS, /* the program can be preloaded, or is no ELF file (a script, whose interpreter is checked when it is executed) */
	PRELOAD_STATIC, /* a static program has no loader that reads LD_PRELOAD, but its child processes may */
	PRELOAD_OTHER_CLASS, /* the program is for another class or processor, whose loader would print an error */
	PRELOAD_OTHER_LIBC, /* the program does not use glibc, which the library needs, so its loader would end it */
	PRELOAD_SANITIZER, /* the program's sanitizer runtime ends it unless that runtime is the first library */
	PRELOAD_LIMITED, /* the limits of address space or data are too low, which callers check */
};

/* This is a function like pread(2) on file, which returns the number of bytes, or a number below 0 on failure. */
typedef long (*preload_read_fn)(int file, void *to, size_t bytes, uint64_t offset);

static inline bool preload_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Is this interpreter glibc's loader?  Its name is ld-linux-x86-64.so.2, or one such as ld-2.31.so, in any folder, while musl's is
 * ld-musl-x86_64.so.1. */
static inline bool preload_is_glibc(const char *interpreter)
{
	const char *slash = strrchr(interpreter, '/'), *base = slash ? slash + 1 : interpreter;

	return preload_begins(base, "ld-linux") || preload_begins(base, "ld-2.");
}

/* Is this needed library a runtime of a sanitizer that ends the program unless it is the first library?  (AsanCheckDynamicRTPrereqs() of
 * compiler-rt, which GCC's runtimes have as well.) */
static inline bool preload_must_be_first(const char *needed)
{
	return preload_begins(needed, "libasan.so") || preload_begins(needed, "libhwasan.so") ||
	       preload_begins(needed, "libclang_rt.asan") || preload_begins(needed, "libclang_rt.hwasan");
}

struct preload_file {
	preload_read_fn read;
	int file;
	unsigned nr;
	Elf64_Phdr header[PRELOAD_HEADERS_MAX];
};

static inline bool preload_read_text(const struct preload_file *f, uint64_t offset, char text[PRELOAD_NAME_BYTES])
{
	long n = f->read(f->file, text, PRELOAD_NAME_BYTES - 1, offset);

	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static inline uint64_t preload_offset_of(const struct preload_file *f, uint64_t address)
{
	for (unsigned i = 0; i < f->nr; i++)
		if (f->header[i].p_type == PT_LOAD && address - f->header[i].p_vaddr < f->header[i].p_filesz)
			return address - f->header[i].p_vaddr + f->header[i].p_offset;
	return UINT64_MAX / 2; /* an offset behind the end of any file, at which reading fails */
}

static inline bool preload_needs_first(const struct preload_file *f, const Elf64_Phdr *dynamic)
{
	uint64_t names = 0;
	char name[PRELOAD_NAME_BYTES];
	Elf64_Dyn entry[16];

	/* The first pass finds the table of names, the second one the needed libraries. */
	for (int pass = 0; pass < 2; pass++)
		for (unsigned at = 0; at < PRELOAD_ENTRIES_MAX && at < dynamic->p_filesz / sizeof(entry[0]); at++) {
			const Elf64_Dyn *d = &entry[at % 16];

			if (at % 16 == 0) {
				memset(entry, 0, sizeof(entry));
				f->read(f->file, entry, sizeof(entry), dynamic->p_offset + at * sizeof(entry[0]));
			}
			if (d->d_tag == DT_NULL)
				break;
			if (pass == 0 && d->d_tag == DT_STRTAB)
				names = preload_offset_of(f, d->d_un.d_ptr);
			if (pass == 1 && d->d_tag == DT_NEEDED && preload_read_text(f, names + d->d_un.d_val, name) &&
			    preload_must_be_first(name))
				return true;
		}
	return false;
}

/* Checks the program in file by its headers.  Never returns PRELOAD_LIMITED.  A file that cannot be read fits. */
static inline enum preload_fit preload_look_at(preload_read_fn read_at, int file)
{
	struct preload_file f = { .read = read_at, .file = file };
	char interpreter[256] = "";
	Elf64_Ehdr h;
	long n;

	memset(&h, 0, sizeof(h));
	if (read_at(file, &h, sizeof(h), 0) < (long)EI_NIDENT || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return PRELOAD_FITS;
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64)
		return PRELOAD_OTHER_CLASS;
	f.nr = h.e_phentsize != sizeof(f.header[0]) ? 0 : h.e_phnum < PRELOAD_HEADERS_MAX ? h.e_phnum : PRELOAD_HEADERS_MAX;
	n = read_at(file, f.header, f.nr * sizeof(f.header[0]), h.e_phoff);
	f.nr = n > 0 ? (unsigned)((size_t)n / sizeof(f.header[0])) : 0;
	for (unsigned i = 0; i < f.nr; i++)
		if (f.header[i].p_type == PT_INTERP) {
			n = read_at(file, interpreter, sizeof(interpreter) - 1, f.header[i].p_offset);
			interpreter[n > 0 ? n : 0] = 0;
			if (!preload_is_glibc(interpreter))
				return PRELOAD_OTHER_LIBC;
			break;
		}
	if (!*interpreter)
		return PRELOAD_STATIC;
	for (unsigned i = 0; i < f.nr; i++)
		if (f.header[i].p_type == PT_DYNAMIC)
			return preload_needs_first(&f, &f.header[i]) ? PRELOAD_SANITIZER : PRELOAD_FITS;
	return PRELOAD_FITS;
}

#endif
