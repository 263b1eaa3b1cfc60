/* SPDX-License-Identifier: MIT */
/*
 * libunwind walks the stack here. It sees the sampled thread through accessors, which give it the registers and stack bytes of the sample,
 * and the .eh_frame sections of the objects that cover its return addresses.
 *
 * libunwind looks frames up in a table like that of .eh_frame_hdr. The table is made here, of the frames that libunwind may run, and is
 * shown to it at addresses that no program has (from TABLE_BASE on), because a table in a malicious trace could lead it anywhere.
 *
 * Where there is no unwind information, libunwind would guess by the frame pointer. A wrong frame is worse than a stack that ends, so
 * unwind_step_without_information() decides there.
 */
#include "analyzer/unwind/unwind_internal.h"

#include "jitreg/base/sorted.h"

#include <errno.h>
#include <libunwind-x86_64.h>
#include <stdlib.h>

#define TABLE_BASE 0xf000000000000000ull
#define TABLES_MAX 65536u

/* libunwind exports its own search in such a table for profilers, but does not declare it in a header. perf declares it in the same way. */
extern int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
					      int need_unwind_info, void *arg);

struct table_entry {
	int32_t start, fde; /* addresses of the code and of its FDE, relative to fde_index.frames_address */
};

struct libunwind_table {
	uint64_t address;
	uint32_t nr;
	struct table_entry entry[];
};

struct libunwind {
	struct knowledge *all;
	unw_addr_space_t space;
	uint32_t nr_tables;
	uint64_t generation;
	/* The members from here on belong to the current walk. */
	const struct unwind_space *view;
	const struct unwind_input *input;
	struct unwind_registers registers; /* the registers at the start of the walk or step */
	struct fde_index *at; /* index of the last object that libunwind asked about */
	struct unwind_object object; /* that object */
	struct {
		uint64_t address, value;
	} popped[CFI_REGISTERS]; /* places below the stack pointer whose saved value is back in its register (find_popped()) */
	unsigned nr_popped;
	bool no_info, truncated;
	bool forget; /* flush libunwind's cache after this step, because it has an expression */
};

static void make_unwind_table(struct libunwind *l, struct fde_index *k)
{
	struct libunwind_table *t;

	if (l->nr_tables == TABLES_MAX || !k->fdes.nr)
		return;
	t = malloc(sizeof(*t) + k->fdes.nr * sizeof(t->entry[0]));
	if (!t)
		return;
	t->nr = 0;
	for (uint32_t i = 0; i < k->fdes.nr; i++) {
		int64_t start = (int64_t)(k->fdes.at[i].start - k->frames_address);

		if (start == (int32_t)start && k->fdes.at[i].offset <= INT32_MAX) /* the table's numbers have 32 bits */
			t->entry[t->nr++] = (struct table_entry){ (int32_t)start, (int32_t)k->fdes.at[i].offset };
	}
	t->address = TABLE_BASE + ((uint64_t)l->nr_tables++ << 32);
	k->table = t;
}

void libunwind_table_free(struct libunwind_table *t)
{
	free(t);
}

/* ------------------------------------------------------------------------------------------- libunwind's accessors */

static struct fde_index *find_object_index(struct libunwind *l, uint64_t address, struct unwind_object *o)
{
	struct fde_index *k;

	memset(o, 0, sizeof(*o));
	l->view->find(l->view->context, address, o);
	k = knowledge_get_index(l->all, o);
	if (k && !k->table)
		make_unwind_table(l, k);
	return k && k->table && k->table->nr ? k : NULL;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need_unwind_info, void *arg)
{
	struct libunwind *l = arg;
	struct unwind_object o;
	unw_dyn_info_t di;
	struct fde_index *k = find_object_index(l, ip, &o);
	int ret;

	if (!k) {
		l->no_info = true;
		return -UNW_ENOINFO;
	}
	l->at = k;
	l->object = o;
	memset(&di, 0, sizeof(di));
	di.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	di.start_ip = o.start;
	di.end_ip = o.end;
	di.u.rti.segbase = k->frames_address + o.bias;
	di.u.rti.table_data = k->table->address;
	di.u.rti.table_len = (unw_word_t)k->table->nr * sizeof(struct table_entry) / sizeof(unw_word_t);
	ret = _Ux86_64_dwarf_search_unwind_table(as, ip, &di, pi, need_unwind_info, arg);
	if (ret < 0)
		l->no_info = true;
	/*
	 * libunwind caches an expression by its address, and would read it later without checking which object it belongs to. So the cache
	 * is flushed after this step.
	 */
	else if (k->expressions.nr && bsearch(&(uint64_t){ pi->start_ip - o.bias }, k->expressions.at, k->expressions.nr,
					      sizeof(*k->expressions.at), sorted_by_number))
		l->forget = true;
	return ret;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *address, void *arg)
{
	(void)as;
	(void)address;
	(void)arg;
	return -UNW_ENOINFO;
}

/*
 * Adds those bytes of the word at address to *word that lie in [base, base + bytes). Returns false if none does. libunwind reads whole
 * words at multiples of 8, and sections need not begin or end there.
 */
static bool read_partial_word(const void *data, uint64_t base, uint64_t bytes, uint64_t address, uint64_t *word)
{
	uint64_t skip = base - address < 8 ? base - address : 0, at = address + skip - base, part = 0;

	if (!data || at >= bytes)
		return false;
	memcpy((char *)&part + skip, (const char *)data + at, bytes - at < 8 - skip ? bytes - at : 8 - skip);
	*word |= part;
	return true;
}

static bool read_indexed_word(const struct fde_index *k, uint64_t bias, uint64_t address, uint64_t *word)
{
	bool table, frames;

	if (!k)
		return false;
	*word = 0;
	table = read_partial_word(k->table->entry, k->table->address, (uint64_t)k->table->nr * sizeof(k->table->entry[0]), address, word);
	frames = read_partial_word(k->frames, k->frames_address + bias, k->frames_bytes, address, word);
	return table || frames;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write, void *arg)
{
	struct libunwind *l = arg;
	enum unwind_end end;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	/* The sections come before the stack, which a malicious trace may have put at the same address. */
	if (read_indexed_word(l->at, l->object.bias, address, value))
		return 0;
	if (stack_read(l->input, address, value, &end))
		return 0;
	for (unsigned i = 0; i < l->nr_popped; i++)
		if (l->popped[i].address == address) {
			*value = l->popped[i].value;
			return 0;
		}
	/* Other words of the object are pointers to personality routines, which are never called. */
	if (l->at && address - l->object.start < l->object.end - l->object.start) {
		*value = 0;
		return 0;
	}
	if (end == UNWIND_TRUNCATED)
		l->truncated = true;
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t n, unw_word_t *value, int write, void *arg)
{
	struct libunwind *l = arg;

	(void)as;
	if (write || n < 0 || n >= UNWIND_REGISTERS || !(l->registers.known & (1u << n)))
		return -UNW_EBADREG;
	*value = l->registers.value[n];
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t n, unw_fpreg_t *value, int write, void *arg)
{
	(void)as;
	(void)n;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EINVAL;
}

static int resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
	(void)as;
	(void)c;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t address, char *name, size_t bytes, unw_word_t *offset, void *arg)
{
	(void)as;
	(void)address;
	(void)name;
	(void)bytes;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

int libunwind_create(struct knowledge *all, struct libunwind **out, struct diag *d)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr, .access_mem = access_mem, .access_reg = access_reg,
		.access_fpreg = access_fpreg, .resume = resume, .get_proc_name = get_proc_name,
	};
	struct libunwind *l = calloc(1, sizeof(*l));

	if (l)
		l->space = unw_create_addr_space(&accessors, 0);
	if (!l || !l->space) {
		free(l);
		return diag_fail(d, ENOMEM, "out of memory for libunwind");
	}
	l->all = all;
	unw_set_caching_policy(l->space, UNW_CACHE_GLOBAL);
	*out = l;
	return 0;
}

void libunwind_destroy(struct libunwind *l)
{
	unw_destroy_addr_space(l->space);
	free(l);
}

/* --------------------------------------------------------------------------------------------------------- the walk */

static void read_registers(unw_cursor_t *c, struct unwind_registers *r)
{
	static const unsigned char kept[] = { 3, 6, 7, 12, 13, 14, 15, 16 }; /* registers that calls preserve, rsp and rip */

	r->known = 0;
	for (size_t i = 0; i < sizeof(kept); i++) {
		unw_word_t value;

		if (unw_get_reg(c, kept[i], &value) == 0) {
			r->value[kept[i]] = value;
			r->known |= 1u << kept[i];
		}
	}
}

/*
 * Sets l->popped to the registers that a function's epilogue has already restored although its unwind information still says where they
 * were saved (struct cfi_row, lowered). access_mem() answers with them, because the memory below the stack pointer is not in the sample.
 */
static void find_popped(struct libunwind *l, uint64_t address)
{
	const struct unwind_registers *r = &l->registers;
	struct cfi_program program;
	struct unwind_object o;
	struct cfi_row row;
	struct fde_index *k = find_object_index(l, address, &o);
	uint64_t cfa;

	l->nr_popped = 0;
	if (!k || !fde_index_find_program(k, address - o.bias, &program) || !cfi_row_at(&program, address - o.bias, &row) || !row.lowered ||
	    row.cfa.where != CFI_REGISTER || !(r->known & 1u << row.cfa.reg))
		return;
	cfa = r->value[row.cfa.reg] + (uint64_t)row.cfa.value;
	for (unsigned i = 0; i < CFI_RETURN; i++)
		if (row.reg[i].where == CFI_AT && r->known & 1u << i && cfa + (uint64_t)row.reg[i].value < r->value[UNWIND_RSP]) {
			l->popped[l->nr_popped].address = cfa + (uint64_t)row.reg[i].value;
			l->popped[l->nr_popped++].value = r->value[i];
		}
}

/*
 * Begins a walk from the registers of the code at an address. libunwind looks up the first frame at its rip, and not at rip - 1 as it does
 * for return addresses. So rip is set to the address to look up.
 */
static bool begin_cursor(struct libunwind *l, const struct unwind_space *space, const struct unwind_input *input, uint64_t address,
			 const struct unwind_registers *r, unw_cursor_t *c)
{
	l->view = space;
	l->input = input;
	l->registers = *r;
	l->registers.value[UNWIND_RIP] = address;
	find_popped(l, address);
	l->at = NULL;
	return unw_init_remote(c, l->space, l) >= 0;
}

/* Steps to the caller. Returns UNWIND_STOPPED if the cursor and *r are now at the caller, else why the walk ends. */
static enum unwind_end step_cursor(struct libunwind *l, unw_cursor_t *c, struct unwind_registers *r)
{
	uint64_t sp = r->value[UNWIND_RSP];
	int ret;

	l->no_info = l->truncated = l->forget = false;
	ret = unw_step(c);
	if (l->forget)
		unw_flush_cache(l->space, 0, 0);
	if (l->no_info)
		return UNWIND_NO_INFO;
	if (l->truncated)
		return UNWIND_TRUNCATED;
	if (ret == 0)
		return UNWIND_COMPLETE;
	if (ret < 0)
		return UNWIND_BROKEN;
	read_registers(c, r);
	if (l->truncated)
		return UNWIND_TRUNCATED;
	if (!(r->known & 1u << UNWIND_RIP) || !(r->known & 1u << UNWIND_RSP))
		return UNWIND_BROKEN;
	if (r->value[UNWIND_RIP] == 0)
		return UNWIND_COMPLETE;
	return r->value[UNWIND_RSP] <= sp ? UNWIND_BROKEN : UNWIND_STOPPED;
}

enum unwind_end libunwind_step(struct libunwind *l, const struct unwind_space *space, const struct unwind_input *input,
			       uint64_t address, struct unwind_registers *r)
{
	unw_cursor_t cursor;

	unw_flush_cache(l->space, 0, 0); /* steps of this kind are rare, and cached rules may be those of another time */
	return begin_cursor(l, space, input, address, r, &cursor) ? step_cursor(l, &cursor, r) : UNWIND_BROKEN;
}

/*
 * Did a signal make the frame at this address? Then its caller was interrupted and has not called, so that its address is not a return
 * address. *function becomes the start of the function, or 0.
 */
static bool is_signal_frame(struct libunwind *l, uint64_t address, uint64_t *function)
{
	struct cfi_program program;
	struct unwind_object o;
	struct fde_index *k = find_object_index(l, address, &o);

	*function = knowledge_function_start(l->all, &o, address);
	return k && fde_index_find_program(k, address - o.bias, &program) && program.signal_frame;
}

/*
 * May address be the last byte of a call in known code? guess: how the frame pointer led there. After FRAME_POINTER_LAST, the code must
 * also have unwind information, be at the program's entry point, or have a row made from its instructions, to be believed.
 */
static bool is_code_behind_call(struct libunwind *l, uint64_t address, enum frame_pointer_step guess)
{
	struct cfi_program program;
	struct unwind_object o;
	struct fde_index *k;
	struct cfi_row row;

	memset(&o, 0, sizeof(o));
	l->view->find(l->view->context, address, &o);
	if (!o.code || address_is_behind_no_call(&o, address))
		return false;
	if (guess != FRAME_POINTER_LAST)
		return true;
	k = knowledge_get_index(l->all, &o);
	return (k && fde_index_find_program(k, address - o.bias, &program)) || (o.elf && elf_is_entry(o.elf, address - o.bias)) ||
	       knowledge_read_code_row(l->all, &o, address, &row);
}

/*
 * Steps out of code without unwind information, as its instructions say, or by its frame pointer where that is allowed. Returns
 * UNWIND_STOPPED if the registers of *f are now the caller's, else why the walk ends.
 */
static enum unwind_end unwind_step_without_information(struct libunwind *l, bool any_guessed, struct unwind_frame *f)
{
	struct unwind_registers *r = &f->registers;
	enum frame_pointer_step guess = FRAME_POINTER_NONE;
	enum unwind_end end = UNWIND_STOPPED;
	uint64_t sp = r->value[UNWIND_RSP];
	struct unwind_object o;
	struct cfi_row row;

	memset(&o, 0, sizeof(o));
	l->view->find(l->view->context, f->address, &o);
	if (o.elf && elf_is_entry(o.elf, f->address - o.bias))
		return UNWIND_COMPLETE;
	if (knowledge_read_code_row(l->all, &o, f->address, &row)) {
		end = unwind_step_row(&row, l->input, r);
		f->found = UNWIND_BY_CODE;
	} else {
		bool frame_pointers = knowledge_has_frame_pointers(l->all, &o, f->address);

		if (frame_pointers && any_guessed && is_last_by_frame_pointer(r))
			return UNWIND_COMPLETE;
		if ((frame_pointers || (any_guessed && o.code)) &&
		    !(o.unregistered && has_return_address(l->all, l->view, l->input, r)))
			guess = unwind_step_by_frame_pointer(l->input, any_guessed, r, &end);
		if (guess == FRAME_POINTER_NONE)
			return end == UNWIND_STOPPED ? UNWIND_NO_INFO : end;
		end = UNWIND_STOPPED;
		f->found = UNWIND_BY_FRAME_POINTER;
	}
	if (end != UNWIND_STOPPED)
		return end;
	if (r->value[UNWIND_RIP] == 0)
		return UNWIND_COMPLETE;
	if (r->value[UNWIND_RSP] <= sp)
		return UNWIND_BROKEN;
	return is_code_behind_call(l, r->value[UNWIND_RIP] - 1, guess) ? UNWIND_STOPPED : UNWIND_NO_INFO;
}

enum unwind_end libunwind_walk(struct libunwind *l, const struct unwind_space *space, const struct unwind_input *input,
			       bool (*frame)(void *context, const struct unwind_frame *f), void *context)
{
	struct unwind_frame f = { 0 };
	bool any_guessed = false;
	unw_cursor_t cursor;
	uint32_t note;

	f.ip = f.address = input->registers.value[UNWIND_RIP];
	f.registers = input->registers;
	if (space->generation != l->generation)
		unw_flush_cache(l->space, 0, 0);
	l->generation = space->generation;
	if (!begin_cursor(l, space, input, f.address, &f.registers, &cursor))
		return UNWIND_BROKEN;
	for (f.depth = 0; f.depth < unwind_frames_max(input); f.depth++) {
		enum unwind_end end;
		bool signal_frame;

		note = 0;
		f.note = &note;
		signal_frame = is_signal_frame(l, f.address, &f.function);
		if (!frame(context, &f))
			return UNWIND_STOPPED;
		f.found = UNWIND_BY_INFORMATION;
		end = step_cursor(l, &cursor, &f.registers);
		if (end == UNWIND_NO_INFO) {
			end = unwind_step_without_information(l, any_guessed, &f);
			any_guessed |= f.found == UNWIND_BY_FRAME_POINTER;
			if (end == UNWIND_STOPPED &&
			    !begin_cursor(l, space, input, f.registers.value[UNWIND_RIP] - 1, &f.registers, &cursor))
				return UNWIND_BROKEN;
		}
		if (end != UNWIND_STOPPED)
			return end;
		f.ip = f.registers.value[UNWIND_RIP];
		f.address = f.ip - !signal_frame;
	}
	return UNWIND_BROKEN;
}
