/* SPDX-License-Identifier: MIT */
/* Keeps an ELF object in this process's memory, whole or in parts, and reads its symbols, sections and segments by libelf.  Lines are in
 * lines.c. libelf checks the bytes that it parses, and values that are computed from its answers are checked here. */
#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/large_pages.h"
#include "jitreg/base/sorted.h"
#include "jitreg/base/planted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int elf_object_create(uint64_t file_bytes, struct budget *budget, struct elf_object **out, struct diag *d)
{
	struct elf_object *o;

	if (file_bytes < sizeof(Elf64_Ehdr) || file_bytes > ELF_FILE_BYTES_MAX)
		return diag_fail(d, EBADMSG, "an ELF file cannot have %llu bytes", (unsigned long long)file_bytes);
	o = calloc(1, sizeof(*o));
	if (!o)
		return diag_fail(d, ENOMEM, "out of memory for an ELF object");
	o->budget = budget;
	o->bytes = file_bytes;
	/* One byte more stays 0, so that every name ends, also if a relocation has overwritten its NUL. */
	o->data = mmap(NULL, file_bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (o->data == MAP_FAILED) {
		free(o);
		return diag_fail(d, ENOMEM, "no address space for an ELF file of %llu bytes", (unsigned long long)file_bytes);
	}
	*out = o;
	return 0;
}

int elf_object_add_part(struct elf_object *o, uint64_t file_offset, const void *bytes, size_t nr)
{
	if (file_offset > o->bytes || nr > o->bytes - file_offset)
		return -EBADMSG;
	large_pages_hint(o->data, o->bytes, file_offset, nr);
	memcpy(o->data + file_offset, bytes, nr);
	if (o->nr_known < ELF_KNOWN_MAX) {
		o->known[o->nr_known].offset = file_offset;
		o->known[o->nr_known++].bytes = nr;
	}
	return 0;
}

void elf_object_destroy(struct elf_object *o)
{
	if (!o)
		return;
	elf_object_destroy(o->debug);
	debug_destroy(o);
	elf_inflate_destroy(o);
	if (o->elf)
		elf_end(o->elf);
	if (o->data)
		munmap(o->data, o->bytes + 1);
	free(o->functions);
	free(o->plt_names);
	free(o->sections);
	free(o);
}

static int compare_function_addresses(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->label != y->label)
		return x->label ? 1 : -1;
	return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0; /* the largest function at an address comes first */
}

/* Do two symbols of one address name one function?  Aliases differ by underscores, a prefix or a suffix, and the bodies of a constructor or
 * destructor by a digit. */
static bool is_alias(const char *a, const char *b)
{
	size_t bytes = strlen(a), at = 0;

	if (bytes == strlen(b) && strncmp(a, "_Z", 2) == 0) {
		while (a[at] && a[at] == b[at])
			at++;
		if (!a[at] || ((a[at - 1] == 'C' || a[at - 1] == 'D') && strcmp(a + at + 1, b + at + 1) == 0))
			return true;
	}
	a += strspn(a, "_");
	b += strspn(b, "_");
	return strstr(a, b) || strstr(b, a);
}

static void note_folded(struct elf_function *kept, const struct elf_function *other)
{
	if (kept->label || other->label || !kept->bytes || kept->bytes != other->bytes || is_alias(kept->name, other->name) ||
	    (kept->folded && is_alias(kept->folded, other->name)))
		return;
	kept->folded = kept->folded ? kept->folded : other->name;
	kept->nr_folded++;
}

/* Keeps one function per address, and no labels inside of functions.  The nr functions are sorted. */
static void choose_functions(struct elf_object *o, size_t nr)
{
	uint64_t end = 0; /* largest end of the functions with a size so far */

	o->nr_functions = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct elf_function f = o->functions[i];

		if (o->nr_functions && f.address == o->functions[o->nr_functions - 1].address) {
			note_folded(&o->functions[o->nr_functions - 1], &f);
			continue;
		}
		if (f.label && f.address < end)
			continue;
		o->functions[o->nr_functions++] = f;
		if (!f.label && f.bytes <= UINT64_MAX - f.address && f.address + f.bytes > end)
			end = f.address + f.bytes;
	}
}

static bool symbol_is_function(const GElf_Sym *s)
{
	return GELF_ST_TYPE(s->st_info) == STT_FUNC || GELF_ST_TYPE(s->st_info) == STT_GNU_IFUNC;
}

/* Labels are symbols in code without the type of a function. Those that begin with ".L" are an assembler's own, and do not count. Symbols
 * for code in a JIT's objects have the type of a function. */
static bool symbol_is_label(const struct elf_object *o, const GElf_Sym *s, const char *name)
{
	unsigned char type = GELF_ST_TYPE(s->st_info);

	return !o->relocatable && (type == STT_OBJECT || type == STT_NOTYPE) && s->st_shndx < o->nr_sections &&
	       (o->sections[s->st_shndx].flags & SHF_EXECINSTR) && strncmp(name, ".L", 2) != 0;
}

/* Returns the name at an offset of a section of names, in o->data, or NULL if no name begins there, or if it does not end in the
 * section. elf_strptr() would search the section for its last NUL at each call, from its end on. */
static const char *elf_name_at(struct elf_object *o, uint64_t section, uint64_t at)
{
	struct section *s = section < o->nr_sections ? &o->sections[section] : NULL;

	if (!s || s->type != SHT_STRTAB || !s->data || s->packing)
		return NULL;
	if (!s->is_text_known) {
		const unsigned char *last = memrchr(s->data, 0, s->bytes);

		planted_fault("elf", s->data, s->bytes);
		s->text_bytes = last ? (uint64_t)(last - s->data) + 1 : 0;
		s->is_text_known = true;
	}
	return at < s->text_bytes ? (const char *)s->data + at : NULL;
}

static int read_symbols(struct elf_object *o, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && sh->sh_entsize ? data->d_size / sizeof(Elf64_Sym) : 0, kept = 0;

	if (nr > INT32_MAX)
		return -EBADMSG;
	o->functions = malloc((nr + 1) * sizeof(*o->functions));
	if (!o->functions)
		return -ENOMEM;
	for (size_t i = 0; i < nr && elf_spend(o, 1); i++) {
		uint64_t base = 0;
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s) || s.st_shndx == SHN_UNDEF)
			continue;
		name = elf_name_at(o, sh->sh_link, s.st_name);
		if (!name || !*name || (!symbol_is_function(&s) && !symbol_is_label(o, &s, name)))
			continue;
		if (o->relocatable) { /* st_value counts from the symbol's section */
			if (s.st_shndx >= o->nr_sections)
				continue;
			base = o->sections[s.st_shndx].address;
		}
		o->functions[kept++] = (struct elf_function){ .name = name, .address = base + s.st_value, .bytes = s.st_size,
							       .label = !symbol_is_function(&s) };
	}
	qsort(o->functions, kept, sizeof(*o->functions), compare_function_addresses);
	choose_functions(o, kept);
	return 0;
}

/* Are there bytes of a section among the known parts?  Other sections are zeros, and may be large.  True also if there are parts that
 * are not listed. */
static bool section_has_bytes(const struct elf_object *o, uint64_t offset, uint64_t bytes)
{
	for (size_t i = 0; i < o->nr_known; i++)
		if (offset < o->known[i].offset + o->known[i].bytes && o->known[i].offset < offset + bytes)
			return true;
	return o->nr_known == ELF_KNOWN_MAX;
}

static int read_sections(struct elf_object *o)
{
	size_t names = 0, nr;
	Elf_Scn *scn = NULL;

	if (elf_getshdrnum(o->elf, &nr) || nr > 65536)
		return -EBADMSG;
	o->sections = calloc(nr + 1, sizeof(*o->sections));
	if (!o->sections)
		return -ENOMEM;
	o->nr_sections = nr;
	if (elf_getshdrstrndx(o->elf, &names))
		names = 0;
	while ((scn = elf_nextscn(o->elf, scn))) {
		size_t i = elf_ndxscn(scn);
		struct section *s = &o->sections[i];
		GElf_Shdr sh;

		if (i >= nr || !gelf_getshdr(scn, &sh))
			continue;
		s->name_at = sh.sh_name;
		s->type = sh.sh_type;
		s->flags = sh.sh_flags;
		s->address = sh.sh_addr;
		s->bytes = sh.sh_size;
		s->offset = sh.sh_offset;
		s->link = sh.sh_link;
		s->info = sh.sh_info;
		if (sh.sh_type != SHT_NOBITS && sh.sh_offset <= o->bytes && sh.sh_size <= o->bytes - sh.sh_offset &&
		    section_has_bytes(o, sh.sh_offset, sh.sh_size))
			s->data = o->data + sh.sh_offset;
	}
	for (size_t i = 0; i < nr; i++) {
		struct section *s = &o->sections[i];

		s->name = elf_name_at(o, names, s->name_at);
		o->has_lines |= s->data && s->bytes && elf_is_named(s, ".debug_line");
		o->names_file |= s->data && s->name && strcmp(s->name, ".gnu_debugaltlink") == 0;
		o->has_more |= s->name && (strcmp(s->name, ".gnu_debugaltlink") == 0 || elf_is_named(s, ".debug_addr"));
		elf_note_compression(s);
	}
	return 0;
}

/* Merges sorted functions of a debug file or of Go's table with the object's own.  At equal addresses the others are used.  The object's
 * own are still needed, since a debug file with compressed symbols lacks the functions of .dynsym. */
static int merge_debug_functions(struct elf_object *o, const struct elf_function *others, size_t nr_others)
{
	size_t own = 0, nr = 0;
	struct elf_function *all = malloc((o->nr_functions + nr_others + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i <= nr_others; i++) {
		uint64_t at = i < nr_others ? others[i].address : UINT64_MAX;

		while (own < o->nr_functions && o->functions[own].address < at)
			all[nr++] = o->functions[own++];
		if (own < o->nr_functions && o->functions[own].address == at)
			own++;
		if (i < nr_others)
			all[nr++] = others[i];
	}
	free(o->functions);
	o->functions = all;
	choose_functions(o, nr);
	return 0;
}

static int add_go_functions(struct elf_object *o)
{
	struct elf_function *functions;
	size_t nr;
	int ret = elf_go_functions(o, &functions, &nr);

	if (ret == 0) {
		ret = merge_debug_functions(o, functions, nr);
		free(functions);
	}
	return ret;
}

static bool has_table(const struct elf_object *o)
{
	for (size_t i = 0; i < o->nr_sections; i++)
		if (o->sections[i].type == SHT_SYMTAB)
			return true;
	return false;
}

/* Reads the functions at the first call, and not when the object is opened, since views without names ask for those of few objects. */
static int read_functions(struct elf_object *o)
{
	static const uint32_t tables[] = { SHT_SYMTAB, SHT_DYNSYM };
	struct elf_object *debug;

	if (o->functions_read)
		return 0;
	o->functions_read = true;
	for (size_t t = 0; t < 2 && !o->nr_functions; t++) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(o->elf, scn))) {
			GElf_Shdr sh;

			if (gelf_getshdr(scn, &sh) && sh.sh_type == tables[t]) {
				int ret;

				free(o->functions);
				o->functions = NULL;
				ret = read_symbols(o, scn, &sh);
				if (ret)
					return ret;
				break;
			}
		}
	}
	if (o->go.nr_functions && !has_table(o) && add_go_functions(o))
		return -ENOMEM;
	debug = o->debug ? o->debug : o->lender;
	return debug && read_functions(debug) == 0 ? merge_debug_functions(o, debug->functions, debug->nr_functions) : 0;
}

static int open_elf_tables(struct elf_object *o, struct diag *d)
{
	Elf64_Ehdr *h;
	int ret;

	elf_version(EV_CURRENT);
	o->elf = elf_memory((char *)o->data, o->bytes);
	if (!o->elf || elf_kind(o->elf) != ELF_K_ELF || gelf_getclass(o->elf) != ELFCLASS64)
		return diag_fail(d, EBADMSG, "not a 64-bit ELF object");
	h = elf64_getehdr(o->elf);
	/* An import may be of another architecture, of which functions and lines are read.  Relocations are those of x86-64. */
	if (!h || h->e_ident[EI_DATA] != ELFDATA2LSB || (h->e_type == ET_REL && h->e_machine != EM_X86_64))
		return diag_fail(d, EBADMSG, "not an x86-64 ELF object");
	o->foreign = h->e_machine != EM_X86_64;
	o->relocatable = h->e_type == ET_REL;
	ret = read_sections(o);
	if (ret == 0)
		elf_go_find(o);
	return ret ? diag_fail(d, -ret, "the ELF object's tables are invalid") : 0;
}

void elf_object_set_debug(struct elf_object *o, struct elf_object *debug)
{
	if (o->debug || o->functions_read)
		elf_object_destroy(debug);
	else
		o->debug = debug;
}

void elf_object_borrow_symbols(struct elf_object *o, struct elf_object *lender)
{
	if (lender != o && !lender->lender && !o->functions_read)
		o->lender = lender;
}

int elf_object_open(struct elf_object *o, struct diag *d)
{
	return open_elf_tables(o, d);
}

/* ---------------------------------------------------------------------------------------------------- memory ELF */

static bool wants_relocation(const char *name)
{
	return name && (strncmp(name, ".debug_", 7) == 0 || strcmp(name, ".eh_frame") == 0);
}

/* Does a section overlap the file's header or its table of sections?  libelf has checked those already, and reads them in place, so that
 * relocations must not change them. */
static bool is_over_headers(const struct elf_object *o, const struct section *s)
{
	const Elf64_Ehdr *h = elf64_getehdr(o->elf);
	uint64_t table = o->nr_sections * sizeof(Elf64_Shdr);

	return !h || s->offset < sizeof(*h) || (s->offset < h->e_shoff + table && h->e_shoff < s->offset + s->bytes);
}

/* Applies the relocations that LLVM puts into debug sections and .eh_frame (System V ABI for x86-64, table 4.10). */
static void relocate_section(struct elf_object *o, const struct section *r, const struct section *target)
{
	const struct section *symbols = r->link < o->nr_sections ? &o->sections[r->link] : NULL;
	unsigned char *base = target->data ? o->data + target->offset : NULL;

	if (!base || !r->data || !symbols || !symbols->data || is_over_headers(o, target))
		return;
	for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= r->bytes && elf_spend(o, 1); at += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		Elf64_Sym sym;
		uint64_t index, value, width;

		memcpy(&rela, r->data + at, sizeof(rela));
		index = ELF64_R_SYM(rela.r_info);
		if (index >= symbols->bytes / sizeof(sym))
			continue;
		memcpy(&sym, symbols->data + index * sizeof(sym), sizeof(sym));
		value = sym.st_value + (uint64_t)rela.r_addend;
		if (sym.st_shndx < o->nr_sections)
			value += o->sections[sym.st_shndx].address;
		switch (ELF64_R_TYPE(rela.r_info)) {
		case R_X86_64_64:
			width = 8;
			break;
		case R_X86_64_PC64:
			width = 8;
			value -= target->address + rela.r_offset;
			break;
		case R_X86_64_32:
		case R_X86_64_32S:
			width = 4;
			break;
		case R_X86_64_PC32:
			width = 4;
			value -= target->address + rela.r_offset;
			break;
		default:
			continue;
		}
		if (rela.r_offset > target->bytes || width > target->bytes - rela.r_offset)
			continue;
		memcpy(base + rela.r_offset, &value, width);
	}
}

int elf_object_open_memory(const void *bytes, size_t nr, struct budget *budget, struct elf_object **out, struct diag *d)
{
	struct elf_object *o = NULL;
	int ret = elf_object_create(nr, budget, &o, d);

	if (ret || !o)
		return ret;
	elf_object_add_part(o, 0, bytes, nr);
	ret = open_elf_tables(o, d);
	if (ret == 0 && read_functions(o)) /* this is done before a relocation can overwrite the tables */
		ret = diag_fail(d, EBADMSG, "the ELF object's tables are invalid");
	if (ret) {
		elf_object_destroy(o);
		return ret;
	}
	o->memory = true;
	/* Sections are read from o->data whenever they are used, so changing it here is enough. */
	for (size_t i = 0; i < o->nr_sections; i++)
		if (o->sections[i].type == SHT_RELA && o->sections[i].info < o->nr_sections &&
		    wants_relocation(o->sections[o->sections[i].info].name))
			relocate_section(o, &o->sections[i], &o->sections[o->sections[i].info]);
	*out = o;
	return 0;
}

/* -------------------------------------------------------------------------------------------------------- answers */

bool elf_object_is_partial(const struct elf_object *o)
{
	return o->has_more;
}

bool elf_has_symbols(const struct elf_object *o)
{
	return has_table(o) || o->go.nr_functions || (o->debug && elf_has_symbols(o->debug)) || o->lender;
}

size_t elf_nr_functions(struct elf_object *o)
{
	read_functions(o);
	return o->nr_functions;
}

struct elf_function elf_get_function(struct elf_object *o, size_t i)
{
	return o->functions[i];
}

/* Are both addresses in one section?  A symbol without a size (_init, assembler) does not reach beyond its section. */
static bool same_section(const struct elf_object *o, uint64_t a, uint64_t b)
{
	elf_spend(o, o->nr_sections / SECTIONS_A_STEP);
	for (size_t i = 0; i < o->nr_sections; i++) {
		const struct section *s = &o->sections[i];

		if ((s->flags & SHF_ALLOC) && a - s->address < s->bytes)
			return b - s->address < s->bytes;
	}
	return false;
}

size_t elf_functions_up_to(struct elf_object *o, uint64_t address)
{
	return SORTED_COUNT(elf_nr_functions(o), i, o->functions[i].address <= address);
}

bool elf_find_function(struct elf_object *o, uint64_t address, struct elf_function *out)
{
	size_t nr = elf_functions_up_to(o, address);

	/* A function may contain others (aliases into it), so that the nearest one may be too short. */
	for (int back = 0; nr > 0 && back < 8; nr--, back++) {
		const struct elf_function *f = &o->functions[nr - 1];

		if (address - f->address < f->bytes || (f->bytes == 0 && back == 0 && same_section(o, f->address, address))) {
			*out = *f;
			return true;
		}
	}
	return false;
}

static void copy_section_answer(const struct section *s, struct elf_section *out)
{
	*out = (struct elf_section){ s->address, s->bytes, s->data, (s->flags & SHF_EXECINSTR) != 0 };
}

bool elf_find_section(struct elf_object *o, const char *name, struct elf_section *out)
{
	for (size_t i = 0; i < o->nr_sections; i++)
		if (elf_is_named(&o->sections[i], name)) {
			elf_inflate(&o->sections[i]);
			copy_section_answer(&o->sections[i], out);
			return true;
		}
	return false;
}

bool elf_get_text(struct elf_object *o, size_t n, struct elf_section *out)
{
	for (size_t i = 0; i < o->nr_sections; i++)
		if ((o->sections[i].flags & SHF_EXECINSTR) && o->sections[i].bytes && n-- == 0) {
			copy_section_answer(&o->sections[i], out);
			return true;
		}
	return false;
}

/* Converts an offset by segment i, which may begin inside of a page, while mappings begin at page boundaries. */
static bool offset_in_segment(struct elf_object *o, int i, bool executable, uint64_t file_offset, uint64_t *address)
{
	GElf_Phdr ph;

	if (!gelf_getphdr(o->elf, i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) == executable ||
	    file_offset - (ph.p_offset & ~(uint64_t)4095) >= ph.p_filesz + (ph.p_offset & 4095))
		return false;
	*address = ph.p_vaddr + (file_offset - ph.p_offset);
	return true;
}

bool elf_find_mapped_range(struct elf_object *o, uint64_t file_offset, struct elf_mapped_range *out)
{
	uint64_t most = UINT64_MAX; /* elf_offset_to_address() takes a segment further up in the table from there on */
	size_t nr;

	if (elf_getphdrnum(o->elf, &nr))
		return false;
	nr = nr < 4096 ? nr : 4096;
	elf_spend(o, nr / SECTIONS_A_STEP);
	for (size_t i = 0; i < nr; i++) {
		uint64_t before;
		GElf_Phdr ph;

		if (!gelf_getphdr(o->elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		before = file_offset - (ph.p_offset & ~(uint64_t)4095); /* wraps if the segment begins behind file_offset */
		if (offset_in_segment(o, (int)i, true, file_offset, &out->address)) {
			out->bytes = ph.p_filesz + (ph.p_offset & 4095) - before;
			out->bytes = out->bytes < most ? out->bytes : most;
			return true;
		}
		if (-before < most && (ph.p_offset & ~(uint64_t)4095) > file_offset)
			most = -before;
	}
	return false;
}

bool elf_offset_to_address(struct elf_object *o, uint64_t file_offset, uint64_t *address)
{
	size_t nr;

	if (elf_getphdrnum(o->elf, &nr))
		return false;
	nr = nr < 4096 ? nr : 4096;
	elf_spend(o, nr / SECTIONS_A_STEP);
	/* Two segments may share a page, since lld does not pad them.  Executable ones are tried first, because callers look for code. */
	for (size_t i = 0; i < nr; i++)
		if (offset_in_segment(o, (int)i, true, file_offset, address))
			return true;
	for (size_t i = 0; i < nr; i++)
		if (offset_in_segment(o, (int)i, false, file_offset, address))
			return true;
	return false;
}

#define ENTRY_BYTES 64u /* glibc's _start and _dl_start_user have 56 */

bool elf_is_entry(const struct elf_object *o, uint64_t address)
{
	const Elf64_Ehdr *h = o->elf ? elf64_getehdr(o->elf) : NULL;

	return h && h->e_entry && address - h->e_entry < ENTRY_BYTES;
}

/* .plt and .plt.sec have one entry of 16 bytes per relocation of .rela.plt.  .plt has one more entry before them. */
static void read_plt(struct elf_object *o)
{
	struct elf_section plt, rela;
	bool second = elf_find_section(o, ".plt.sec", &plt);
	uint32_t link = 0;
	size_t nr;

	o->plt_read = true;
	if ((!second && !elf_find_section(o, ".plt", &plt)) || !elf_find_section(o, ".rela.plt", &rela) || !rela.data)
		return;
	for (size_t i = 0; i < o->nr_sections; i++)
		if (o->sections[i].name && strcmp(o->sections[i].name, ".rela.plt") == 0)
			link = o->sections[i].link;
	nr = rela.bytes / sizeof(Elf64_Rela);
	if (link >= o->nr_sections || !o->sections[link].data || nr > 1u << 20)
		return;
	o->plt_names = calloc(nr + 1, sizeof(*o->plt_names));
	if (!o->plt_names)
		return;
	o->plt_address = plt.address + (second ? 0 : 16);
	for (size_t i = 0; i < nr; i++) {
		const struct section *symbols = &o->sections[link];
		Elf64_Rela r;
		Elf64_Sym s;

		memcpy(&r, (const char *)rela.data + i * sizeof(r), sizeof(r));
		if (ELF64_R_SYM(r.r_info) >= symbols->bytes / sizeof(s))
			continue;
		memcpy(&s, symbols->data + ELF64_R_SYM(r.r_info) * sizeof(s), sizeof(s));
		o->plt_names[i] = elf_name_at(o, symbols->link, s.st_name);
	}
	o->nr_plt = nr;
}

bool elf_find_plt(struct elf_object *o, uint64_t address, const char **name)
{
	if (!o->plt_read)
		read_plt(o);
	if (address < o->plt_address || (address - o->plt_address) / 16 >= o->nr_plt)
		return false;
	*name = o->plt_names[(address - o->plt_address) / 16];
	return *name && **name;
}
