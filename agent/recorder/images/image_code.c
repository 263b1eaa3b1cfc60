/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/image_code.h"

#include "agent/recorder/images/elf_frames.h"
#include "jitreg/base/grow.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE (1ull << IMAGE_CODE_LINE_SHIFT)
#define SAMPLES_LEAST 2 /* fewest samples of a function; with one, a listing would have nothing to compare */
#define FUNCTION_BYTES_MAX (256u << 10)
#define FILES_MAX 512u /* maximum number of files, each of which has a descriptor until image_code_destroy() */
#define FUNCTIONS_MAX (1u << 20)
#define SEGMENTS_MAX 64u /* maximum number of segments of one file that are looked at; linkers make four */

struct function {
	uint32_t file;
	uint64_t address, bytes; /* in the file's own addresses, as its program headers have them */
	uint64_t offset;	 /* offset in the file */
	uint64_t samples;
};

struct code_file {
	int fd;
	char *key;
	struct file_identity identity;
};

struct image_code {
	uint64_t limit;
	ARRAY(struct code_file) files;
	ARRAY(struct function) functions;
};

struct image_code *image_code_create(uint64_t limit_bytes)
{
	struct image_code *c = calloc(1, sizeof(*c));

	if (c)
		c->limit = limit_bytes;
	return c;
}

void image_code_destroy(struct image_code *c)
{
	for (uint32_t i = 0; c && i < c->files.nr; i++) {
		close(c->files.at[i].fd);
		free(c->files.at[i].key);
	}
	if (c) {
		free(c->files.at);
		free(c->functions.at);
	}
	free(c);
}

/* -------------------------------------------------------------------------------------------------- sampled functions */

struct line {
	uint64_t address, offset;
	uint64_t before; /* sum of the samples of all lines before this one */
};

/* This struct has the sampled lines of the executable segments of one file, sorted by address. Behind the nr lines is one more, whose
 * `before` is the sum of all samples. */
struct lines {
	ARRAY_OF(struct line);
	const Elf64_Phdr *segment;
	uint16_t nr_segments;
};

static int compare_lines_by_address(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static bool is_code_segment(const Elf64_Phdr *s)
{
	return s->p_type == PT_LOAD && s->p_flags & PF_X && s->p_offset <= UINT64_MAX / 2 && s->p_filesz <= UINT64_MAX / 2 &&
	       s->p_vaddr <= UINT64_MAX / 2;
}

static bool find_sampled_lines(const struct lines *where, const uint32_t *samples, uint64_t nr, struct lines *out)
{
	uint64_t sum = 0;

	*out = *where;
	for (uint16_t i = 0; i < out->nr_segments; i++) {
		const Elf64_Phdr *s = &out->segment[i];

		for (uint64_t n = is_code_segment(s) ? s->p_offset / LINE : nr; n < nr && n * LINE < s->p_offset + s->p_filesz; n++) {
			if (!samples[n])
				continue;
			if (!ARRAY_PUSH(*out, (struct line){ n * LINE - s->p_offset + s->p_vaddr, n * LINE, samples[n] }))
				return false;
		}
	}
	if (!out->nr || !ARRAY_GROW(*out))
		return false;
	qsort(out->at, out->nr, sizeof(*out->at), compare_lines_by_address);
	for (size_t i = 0; i < out->nr; i++) {
		uint64_t own = out->at[i].before;

		out->at[i].before = sum;
		sum += own;
	}
	out->at[out->nr] = (struct line){ UINT64_MAX, 0, sum };
	return true;
}

/* Returns the index of the first line that begins at address or after it. */
static size_t index_of_line_from(const struct lines *l, uint64_t address)
{
	size_t low = 0, high = l->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->at[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the number of samples of the lines that [address, address + bytes) reaches into. */
static uint64_t count_samples_in_range(const struct lines *l, uint64_t address, uint64_t bytes)
{
	size_t first = index_of_line_from(l, address < LINE ? 0 : address - LINE + 1);

	return l->at[index_of_line_from(l, address + bytes)].before - l->at[first].before;
}

static void add_sampled_function(struct image_code *c, const struct lines *l, uint64_t address, uint64_t bytes)
{
	uint64_t samples;

	if (!bytes || bytes > FUNCTION_BYTES_MAX || bytes > UINT64_MAX - address)
		return;
	samples = count_samples_in_range(l, address, bytes);
	if (samples < SAMPLES_LEAST)
		return;
	for (uint16_t i = 0; i < l->nr_segments; i++) {
		const Elf64_Phdr *s = &l->segment[i];

		if (!is_code_segment(s) || address < s->p_vaddr || address - s->p_vaddr > s->p_filesz ||
		    bytes > s->p_filesz - (address - s->p_vaddr))
			continue;
		if (c->functions.nr < FUNCTIONS_MAX && ARRAY_GROW(c->functions))
			c->functions.at[c->functions.nr++] =
				(struct function){ c->files.nr, address, bytes, address - s->p_vaddr + s->p_offset, samples };
		return;
	}
}

static void add_functions_of_symbols(struct image_code *c, const struct lines *l, const struct elf_part *table, uint64_t bytes)
{
	const Elf64_Sym *symbol = table->bytes;

	for (size_t i = 0; i < bytes / sizeof(*symbol); i++) {
		unsigned type = ELF64_ST_TYPE(symbol[i].st_info);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) && symbol[i].st_shndx != SHN_UNDEF)
			add_sampled_function(c, l, symbol[i].st_value, symbol[i].st_size);
	}
}

static int compare_functions_by_place(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

/* Sorts the functions from first on by address, and drops those that lie in others (aliases, second tables). */
static void drop_contained_functions(struct image_code *c, size_t first)
{
	size_t kept = first;
	uint64_t end = 0;

	if (c->functions.nr > first)
		qsort(c->functions.at + first, c->functions.nr - first, sizeof(*c->functions.at), compare_functions_by_place);
	for (size_t i = first; i < c->functions.nr; i++) {
		const struct function f = c->functions.at[i];

		if (kept > first && f.address + f.bytes <= end)
			continue;
		end = f.address + f.bytes;
		c->functions.at[kept++] = f;
	}
	c->functions.nr = kept;
}

static bool is_covered_by_functions(const struct image_code *c, size_t first, size_t end, uint64_t address, uint64_t bytes)
{
	size_t low = first, high = end;

	while (low < high) { /* the first function that ends after address */
		size_t middle = low + (high - low) / 2;

		if (c->functions.at[middle].address + c->functions.at[middle].bytes > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < end && c->functions.at[low].address < address + bytes;
}

static void add_functions_of_frames(struct image_code *c, const struct lines *l, const struct elf_part *frames, uint64_t bytes,
				    uint64_t address, size_t first)
{
	const unsigned char *section = frames->bytes;
	const size_t named = c->functions.nr;

	if (!elf_frames_are_usual(section, bytes))
		return;
	for (uint64_t at = 0; bytes - at >= 4 && elf_frame_u32(section + at); at += 4 + (uint64_t)elf_frame_u32(section + at)) {
		uint64_t start = elf_frame_start(section, at, address);

		if (elf_frame_u32(section + at + 4) && !is_covered_by_functions(c, first, named, start, elf_frame_bytes(section, at)))
			add_sampled_function(c, l, start, elf_frame_bytes(section, at));
	}
}

void image_code_find_functions(struct image_code *c, int fd, const char *key, const struct file_identity *identity, struct elf_parts *parts,
			       const uint32_t *samples, uint64_t nr)
{
	const struct elf_part *head = elf_parts_find(parts, 0, sizeof(Elf64_Ehdr)), *part;
	const size_t first = c->functions.nr;
	struct lines where = { 0 }, lines = { 0 };
	const Elf64_Shdr *section = NULL;
	struct code_file *file;
	Elf64_Ehdr h;

	if (!head || !samples || c->files.nr == FILES_MAX || !ARRAY_GROW(c->files))
		return;
	memcpy(&h, head->bytes, sizeof(h));
	part = h.e_phentsize == sizeof(Elf64_Phdr) ? elf_parts_find(parts, h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr)) : NULL;
	where.segment = part ? part->bytes : NULL;
	where.nr_segments = !part ? 0 : h.e_phnum < SEGMENTS_MAX ? h.e_phnum : SEGMENTS_MAX;
	part = h.e_shentsize == sizeof(*section) ? elf_parts_find(parts, h.e_shoff, (uint64_t)h.e_shnum * sizeof(*section)) : NULL;
	section = part ? part->bytes : NULL;
	if (find_sampled_lines(&where, samples, nr, &lines)) {
		for (uint16_t i = 0; section && i < h.e_shnum; i++)
			if ((section[i].sh_type == SHT_SYMTAB || section[i].sh_type == SHT_DYNSYM) &&
			    (part = elf_parts_find(parts, section[i].sh_offset, section[i].sh_size)))
				add_functions_of_symbols(c, &lines, part, section[i].sh_size);
		drop_contained_functions(c, first);
		/* .eh_frame is found by its type, which linkers for x86-64 choose in two ways, and by its usual form. */
		for (uint16_t i = 0; section && i < h.e_shnum; i++)
			if ((section[i].sh_type == SHT_X86_64_UNWIND || section[i].sh_type == SHT_PROGBITS) &&
			    !(section[i].sh_flags & SHF_EXECINSTR) && section[i].sh_flags & SHF_ALLOC &&
			    (part = elf_parts_find(parts, section[i].sh_offset, section[i].sh_size)))
				add_functions_of_frames(c, &lines, part, section[i].sh_size, section[i].sh_addr, first);
		drop_contained_functions(c, first);
	}
	free(lines.at);
	if (c->functions.nr == first)
		return;
	file = &c->files.at[c->files.nr];
	*file = (struct code_file){ fcntl(fd, F_DUPFD_CLOEXEC, 0), strdup(key), *identity };
	if (file->fd >= 0 && file->key) {
		c->files.nr++;
		return;
	}
	c->functions.nr = first;
	if (file->fd >= 0)
		close(file->fd);
	free(file->key);
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static int compare_functions_by_samples(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->file != y->file ? (x->file < y->file ? -1 : 1) : compare_functions_by_place(a, b);
}

static int compare_functions_by_file(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->file != y->file ? (x->file < y->file ? -1 : 1) : compare_functions_by_place(a, b);
}

/* Moves the hottest functions that the limit has room for to the front, sorted by file, and returns their number. */
static size_t choose_hottest_functions(struct image_code *c)
{
	uint64_t left = c->limit;
	size_t kept = 0;

	if (c->functions.nr)
		qsort(c->functions.at, c->functions.nr, sizeof(*c->functions.at), compare_functions_by_samples);
	for (size_t i = 0; i < c->functions.nr; i++)
		if (c->functions.at[i].bytes <= left) {
			left -= c->functions.at[i].bytes;
			c->functions.at[kept++] = c->functions.at[i];
		}
	if (kept)
		qsort(c->functions.at, kept, sizeof(*c->functions.at), compare_functions_by_file);
	return kept;
}

static void write_code_of_file(const struct code_file *file, const struct function *f, size_t nr, struct trace_writer *w, uint64_t time_ns)
{
	struct trace_function_code *function = calloc(nr, sizeof(*function));
	size_t known = 0;

	for (size_t i = 0; function && i < nr; i++) {
		unsigned char *code = malloc(f[i].bytes);

		if (code && pread(file->fd, code, f[i].bytes, (off_t)f[i].offset) == (ssize_t)f[i].bytes)
			function[known++] = (struct trace_function_code){ f[i].address, { code, f[i].bytes } };
		else
			free(code);
	}
	if (known) {
		TRACE_PUT(w, image_code, time_ns, 0, 0, .key = trace_string(file->key), .functions = { function, known },
			  .device = file->identity.device, .inode = file->identity.inode, .generation = file->identity.generation);
		trace_writer_flush(w, TRACE_CHUNK_FILES);
	}
	for (size_t i = 0; i < known; i++)
		free((void *)function[i].bytes.p);
	free(function);
}

void image_code_write(struct image_code *c, struct trace_writer *w, uint64_t time_ns)
{
	size_t nr = choose_hottest_functions(c);

	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && c->functions.at[end].file == c->functions.at[i].file;)
			end++;
		write_code_of_file(&c->files.at[c->functions.at[i].file], c->functions.at + i, end - i, w, time_ns);
	}
}
