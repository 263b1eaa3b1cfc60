/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_code.h"

#include <elf.h>
#include <string.h>

#define SEGMENTS_MAX 32
#define TABLE_MAX (1u << 20)	/* maximum number of functions in a program */
#define TAKER_BYTES_MAX (256u << 10) /* how much of a function's code is searched; llvm_compile_expr() of version 19 has 28,000 bytes */
#define FUNCTION_BYTES_MAX 4096 /* how much of the code of a node's function is searched; scans of version 15 have at most 700 bytes */
#define ENCODED_PC_RELATIVE_SDATA4 0x1b
#define ENCODED_UDATA4 0x03
#define ENCODED_DATA_RELATIVE_SDATA4 0x3b

static const char *const symbol_names[] = {
#define NAME(NAME_, symbol) symbol,
	POSTGRES_SYMBOLS(NAME)
#undef NAME
};

const char *postgres_symbol_name(enum postgres_symbol symbol)
{
	return symbol_names[symbol];
}

static bool is_in_range(struct postgres_range r, uint64_t address)
{
	return address >= r.begin && address < r.end;
}

/* Set the search table of r->code from the header of .eh_frame_hdr at address.  If the header has other encodings than ld and lld write, or
 * cannot be read, there is no table. */
static void find_function_table(const struct postgres_reader *r, uint64_t address)
{
	struct {
		uint8_t version, frame_encoding, nr_encoding, table_encoding;
		int32_t frame;
		uint32_t nr;
	} h;

	if (r->read(r->context, address, &h, sizeof(h)) || h.version != 1 || h.frame_encoding != ENCODED_PC_RELATIVE_SDATA4 ||
	    h.nr_encoding != ENCODED_UDATA4 || h.table_encoding != ENCODED_DATA_RELATIVE_SDATA4 || h.nr == 0 || h.nr > TABLE_MAX)
		return;
	r->code->table = address + sizeof(h);
	r->code->table_base = address;
	r->code->table_nr = h.nr;
}

bool postgres_code_init(const struct postgres_reader *r, uint64_t base)
{
	uint64_t bias = base, header = 0;
	Elf64_Phdr segment[SEGMENTS_MAX];
	struct postgres_range text = { 0, 0 };
	bool has_first = false;
	Elf64_Ehdr e;

	if (r->read(r->context, base, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_machine != EM_X86_64 || e.e_phentsize != sizeof(segment[0]) || e.e_phnum == 0 || e.e_phnum > SEGMENTS_MAX ||
	    r->read(r->context, base + e.e_phoff, segment, e.e_phnum * sizeof(segment[0])))
		return false;
	for (int i = 0; i < e.e_phnum; i++) {
		const Elf64_Phdr *p = &segment[i];

		if (p->p_type == PT_LOAD && !has_first) {
			bias = base - (p->p_vaddr & ~(uint64_t)4095);
			has_first = true;
		}
		if (p->p_type == PT_LOAD && p->p_flags & PF_X && text.end == 0)
			text = (struct postgres_range){ p->p_vaddr, p->p_vaddr + p->p_memsz };
		if (p->p_type == PT_GNU_EH_FRAME)
			header = p->p_vaddr;
	}
	if (!has_first || text.end <= text.begin || text.end - text.begin > UINT32_MAX)
		return false;
	r->code->text = (struct postgres_range){ bias + text.begin, bias + text.end };
	r->code->table = r->code->nr_entries = 0;
	memset(r->code->begins, 0, sizeof(r->code->begins));
	if (header)
		find_function_table(r, bias + header);
	return true;
}

/* Returns the address at which the function of the table's entry n begins, or 0 if it cannot be read. */
static uint64_t begin_of_function(const struct postgres_reader *r, uint32_t n)
{
	int32_t offset;

	if (r->read(r->context, r->code->table + 8 * (uint64_t)n, &offset, sizeof(offset)))
		return 0;
	return r->code->table_base + (uint64_t)(int64_t)offset;
}

bool postgres_code_find_function(const struct postgres_reader *r, uint64_t address, struct postgres_range *out)
{
	uint32_t low = 0, high = r->code->table_nr;
	uint64_t begin;

	if (!r->code->table || !is_in_range(r->code->text, address))
		return false;
	/* Find the last function that begins at address or before it. */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		begin = begin_of_function(r, middle);
		if (!begin)
			return false;
		if (begin <= address)
			low = middle;
		else
			high = middle;
	}
	begin = begin_of_function(r, low);
	if (!is_in_range(r->code->text, begin) || begin > address)
		return false;
	*out = (struct postgres_range){ begin, r->code->text.end };
	if (low + 1 < r->code->table_nr) {
		uint64_t next = begin_of_function(r, low + 1);

		if (next > address && next < out->end)
			out->end = next;
	}
	return true;
}

bool postgres_code_is_function_begin(const struct postgres_reader *r, uint64_t address)
{
	uint64_t *known = &r->code->begins[address / 16 % POSTGRES_CODE_BEGINS];
	struct postgres_range f;

	if (!is_in_range(r->code->text, address))
		return false;
	if (!r->code->table || *known == address)
		return true;
	if (!postgres_code_find_function(r, address, &f) || f.begin != address)
		return false;
	*known = address; /* this stays true, since code of a program does not change */
	return true;
}

/* ------------------------------------------------------------------------------------------- what a scan jumps to */

static void add_jump_target(struct postgres_code_entry *e, uint64_t address)
{
	for (uint32_t i = 0; i < e->nr_targets; i++)
		if (e->target[i] == address)
			return;
	if (address != e->function && e->nr_targets < sizeof(e->target) / sizeof(e->target[0]))
		e->target[e->nr_targets++] = address;
}

enum targets { JUMPS, JUMPS_AND_ARGUMENTS, ADDRESSES };

/*
 * Add to e the functions that the code at [f.begin, f.end) refers to.  JUMPS: targets of jumps.  JUMPS_AND_ARGUMENTS: also addresses that
 * are loaded into the registers of the second or third argument (ExecScan()'s access and recheck methods).  ADDRESSES: all addresses that
 * are computed relative to the instruction pointer, but no jumps.  The code is not disassembled, so bytes within an instruction may look
 * like one.  Therefore only addresses at which a function begins are taken, and only with a search table.
 */
static void add_targets_of_code(const struct postgres_reader *r, struct postgres_range f, enum targets what, struct postgres_code_entry *e)
{
	unsigned char code[256 + 8];
	uint64_t end = f.end - f.begin < FUNCTION_BYTES_MAX ? f.end : f.begin + FUNCTION_BYTES_MAX;

	for (uint64_t at = f.begin; at < end; at += 256) {
		size_t left = end - at < sizeof(code) ? (size_t)(end - at) : sizeof(code);

		if (r->read(r->context, at, code, left))
			return;
		for (size_t i = 0; i < 256 && i + 5 <= left; i++) {
			const unsigned char *c = code + i;
			uint64_t target = 0;
			int32_t distance;

			if (what != JUMPS && i + 7 <= left && (c[0] & 0xfb) == 0x48 && c[1] == 0x8d &&
			    (what == ADDRESSES ? (c[2] & 0xc7) == 0x05 : c[0] == 0x48 && (c[2] == 0x35 || c[2] == 0x15))) {
				/* this is lea distance(%rip),%register, with %rsi or %rdx, or, for ADDRESSES, with any register */
				memcpy(&distance, c + 3, sizeof(distance));
				target = at + i + 7 + (uint64_t)(int64_t)distance;
			} else if (what == JUMPS_AND_ARGUMENTS && (c[0] == 0xbe || c[0] == 0xba)) {
				/* mov $address,%esi or %edx, in a program that is not position-independent */
				memcpy(&distance, c + 1, sizeof(distance));
				target = (uint32_t)distance;
			} else if (what != ADDRESSES && c[0] == 0xe9) {
				memcpy(&distance, c + 1, sizeof(distance)); /* jmp distance */
				target = at + i + 5 + (uint64_t)(int64_t)distance;
			}
			if (target && !is_in_range(f, target) && r->code->table && postgres_code_is_function_begin(r, target))
				add_jump_target(e, target);
		}
	}
}

static bool is_scan_node(enum postgres_node_type type)
{
	return type >= POSTGRES_SEQ_SCAN && type <= POSTGRES_CUSTOM_SCAN && type != POSTGRES_BITMAP_INDEX_SCAN;
}

static void learn_scan_targets(const struct postgres_reader *r, struct postgres_code_entry *e)
{
	uint64_t scan = r->code->symbol[POSTGRES_EXEC_SCAN];
	struct postgres_range f;

	if (!postgres_code_find_function(r, e->function, &f))
		return;
	add_targets_of_code(r, f, JUMPS_AND_ARGUMENTS, e);
	if (scan && postgres_code_find_function(r, scan, &f)) {
		add_jump_target(e, scan);
		add_targets_of_code(r, f, JUMPS, e);
	}
}

static uint32_t append_function(uint64_t to[POSTGRES_FUNCTIONS_MAX], uint32_t nr, uint64_t address)
{
	if (address && nr < POSTGRES_FUNCTIONS_MAX)
		to[nr++] = address;
	return nr;
}

/* Returns the entry of a function, which is made when the function is seen first. scan: the entry has what a scan jumps to. caller: it
 * has the functions whose addresses the function takes. If r->code has no room for it, it is made in *once. Returns NULL if no function
 * begins at the address. */
static const struct postgres_code_entry *find_entry(const struct postgres_reader *r, uint64_t function, bool scan, bool caller,
						    struct postgres_code_entry *once)
{
	struct postgres_code *c = r->code;
	struct postgres_code_entry *e = once;
	struct postgres_range f;

	for (uint32_t i = 0; i < c->nr_entries; i++)
		if (c->entry[i].function == function)
			return &c->entry[i];
	if (!postgres_code_is_function_begin(r, function))
		return NULL;
	if (c->nr_entries < POSTGRES_CODE_ENTRIES)
		e = &c->entry[c->nr_entries++];
	memset(e, 0, sizeof(*e));
	e->function = function;
	if (scan)
		learn_scan_targets(r, e);
	if (caller && postgres_code_find_function(r, function, &f))
		add_targets_of_code(r, f, ADDRESSES, e);
	return e;
}

static uint32_t append_entry(const struct postgres_code_entry *e, uint64_t to[POSTGRES_FUNCTIONS_MAX], uint32_t nr)
{
	nr = append_function(to, nr, e->function);
	for (uint32_t i = 0; i < e->nr_targets; i++)
		nr = append_function(to, nr, e->target[i]);
	return nr;
}

uint32_t postgres_code_node_functions(const struct postgres_reader *r, enum postgres_node_type type, uint64_t function, uint64_t called,
				      uint64_t to[POSTGRES_FUNCTIONS_MAX])
{
	const struct postgres_code *c = r->code;
	struct postgres_code_entry once;
	const struct postgres_code_entry *e = find_entry(r, function, is_scan_node(type), false, &once);
	uint32_t nr;

	if (!e)
		return 0;
	nr = append_entry(e, to, 0);
	e = called != function ? find_entry(r, called, false, true, &once) : NULL;
	if (e)
		nr = append_entry(e, to, nr);
	switch (type) {
	case POSTGRES_HASH:
		return append_function(to, nr, c->symbol[POSTGRES_MULTI_EXEC_HASH]);
	case POSTGRES_BITMAP_INDEX_SCAN:
		return append_function(to, nr, c->symbol[POSTGRES_MULTI_EXEC_BITMAP_INDEX_SCAN]);
	case POSTGRES_BITMAP_AND:
		return append_function(to, nr, c->symbol[POSTGRES_MULTI_EXEC_BITMAP_AND]);
	case POSTGRES_BITMAP_OR:
		return append_function(to, nr, c->symbol[POSTGRES_MULTI_EXEC_BITMAP_OR]);
	default:
		return nr;
	}
}

/* ------------------------------------------------------------------------------------------- what a function passes on */

static uint32_t add_address(uint64_t address, uint64_t *to, uint32_t nr, uint32_t room)
{
	for (uint32_t i = 0; i < nr; i++)
		if (to[i] == address)
			return nr;
	if (nr < room)
		to[nr++] = address;
	return nr;
}

uint32_t postgres_code_addresses_taken(const struct postgres_reader *r, uint64_t taker, uint64_t *to, uint32_t nr, uint32_t room)
{
	enum { LEA_BYTES = 7 }; /* lea distance(%rip),%register */
	unsigned char code[512];
	struct postgres_range f;

	if (!postgres_code_find_function(r, taker, &f))
		return nr;
	for (uint64_t at = f.begin; f.end - at >= LEA_BYTES && at - f.begin < TAKER_BYTES_MAX; at += sizeof(code) - LEA_BYTES + 1) {
		size_t bytes = f.end - at < sizeof(code) ? (size_t)(f.end - at) : sizeof(code);

		if (r->read(r->context, at, code, bytes))
			break;
		for (size_t i = 0; i + LEA_BYTES <= bytes; i++) {
			int32_t distance;
			uint64_t target;

			if ((code[i] != 0x48 && code[i] != 0x4c) || code[i + 1] != 0x8d || (code[i + 2] & 0xc7) != 0x05)
				continue;
			memcpy(&distance, code + i + 3, sizeof(distance));
			target = at + i + LEA_BYTES + (uint64_t)(int64_t)distance;
			if (postgres_code_is_function_begin(r, target))
				nr = add_address(target, to, nr, room);
		}
		if (bytes < sizeof(code))
			break;
	}
	return nr;
}

/*
 * The function _PG_jit_provider_init() takes the address of llvm_compile_expr(), which makes the IR of an expression, and that one takes
 * the address of ExecRunCompiledExpr().  The latter compiles the IR at the first evaluation, within a plan node, and jumps to the code at
 * its end.  So a stack has its frame only while LLVM compiles.
 */
uint32_t postgres_code_llvm_functions(const struct postgres_reader *r, uint64_t base, uint64_t init, uint64_t *to, uint32_t room)
{
	uint32_t nr, nr_handed;

	if (!init || !postgres_code_init(r, base))
		return 0;
	nr = nr_handed = postgres_code_addresses_taken(r, init, to, 0, room);
	for (uint32_t i = 0; i < nr_handed; i++)
		nr = postgres_code_addresses_taken(r, to[i], to, nr, room);
	return nr;
}
