/* SPDX-License-Identifier: MIT */
/*
 * libunwind does the walking; it sees the sampled thread through accessors: registers and stack bytes of the sample, and the
 * .eh_frame sections of the objects that cover its return addresses.
 *
 * libunwind looks frames up in a table as .eh_frame_hdr has it.  The table is made here, of the frames that it may run, and
 * shown to libunwind at addresses that no program has (TABLE_BASE on): a trace's own table could lead it anywhere.
 *
 * Where there is no unwind information libunwind would guess by the frame pointer; a guess that looks like a frame is worse
 * than the truth that there is none, so the walk ends there.
 */
#include "unwind.h"

#include "eh_frame.h"

#include <errno.h>
#include <libunwind-x86_64.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_BASE 0xf000000000000000ull
#define TABLES_MAX 65536u
#define BUCKETS 1024u

/* libunwind's own search, exported for profilers; it has no public declaration (perf declares it likewise). */
extern int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
					      int need_unwind_info, void *arg);

struct table_entry {
	int32_t start, fde; /* relative to the .eh_frame's (or header's) address */
};

/* One object's unwind information. */
struct known {
	struct known *next;
	uint64_t key;
	uint64_t start, end;  /* all of the object's addresses that may be asked for, run-time */
	uint64_t frames_address, frames_bytes;
	const unsigned char *frames; /* NULL: it has none */
	struct table_entry *table; /* made here */
	uint32_t nr_entries;
	uint64_t *expressions; /* where code starts whose program has some, sorted */
	uint32_t nr_expressions;
	uint64_t table_address;
	uint64_t segment_base;
};

struct unwinder {
	unw_addr_space_t space;
	struct known *known[BUCKETS];
	uint32_t nr_tables;
	uint64_t generation;
	/* of the walk that is on */
	const struct unwind_space *view;
	const struct unwind_input *input;
	struct known *at; /* of the last frame that libunwind asked about */
	bool no_info, truncated;
	bool forget; /* what this step put into libunwind's cache */
};

static int by_start(const void *a, const void *b)
{
	const struct table_entry *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start ? 1 : 0;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct collect {
	struct known *known;
	uint32_t capacity, expressions_capacity;
};

static bool collect_expression(struct collect *c, uint64_t start)
{
	struct known *k = c->known;

	if (k->nr_expressions == c->expressions_capacity) {
		uint32_t capacity = c->expressions_capacity ? 2 * c->expressions_capacity : 16;
		uint64_t *bigger = realloc(k->expressions, capacity * sizeof(*bigger));

		if (!bigger)
			return false;
		k->expressions = bigger;
		c->expressions_capacity = capacity;
	}
	k->expressions[k->nr_expressions++] = start;
	return true;
}

static bool collect(void *context, const struct eh_frame_fde *f)
{
	struct collect *c = context;
	struct known *k = c->known;
	int64_t start = (int64_t)(f->start - k->frames_address);

	if (start != (int32_t)start || !f->bytes)
		return true; /* farther than libunwind's table can say; or code that the linker left out */
	if (f->expressions && !collect_expression(c, f->start))
		return false;
	if (k->nr_entries == c->capacity) {
		uint32_t capacity = c->capacity ? 2 * c->capacity : 16;
		struct table_entry *bigger = realloc(k->table, capacity * sizeof(*bigger));

		if (!bigger)
			return false;
		k->table = bigger;
		c->capacity = capacity;
	}
	k->table[k->nr_entries++] = (struct table_entry){ (int32_t)start, (int32_t)f->offset };
	return true;
}

static void make_table(struct unwinder *u, struct known *k)
{
	struct collect c = { k, 0, 0 };

	if (u->nr_tables == TABLES_MAX)
		return;
	eh_frame_each(k->frames, k->frames_bytes, k->frames_address, collect, &c);
	if (!k->nr_entries)
		return;
	qsort(k->table, k->nr_entries, sizeof(*k->table), by_start);
	if (k->nr_expressions)
		qsort(k->expressions, k->nr_expressions, sizeof(*k->expressions), by_address);
	k->segment_base = k->frames_address;
	k->table_address = TABLE_BASE + ((uint64_t)u->nr_tables++ << 32);
}

static struct known *learn(struct unwinder *u, const struct unwind_object *o)
{
	struct known **slot = &u->known[o->key % BUCKETS], *k;
	struct elf_section s;

	for (k = *slot; k; k = k->next)
		if (k->key == o->key)
			return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->key = o->key;
	k->next = *slot;
	*slot = k;
	k->start = o->start;
	k->end = o->end;
	if (o->elf) {
		if (elf_find_section(o->elf, ".eh_frame", &s) && s.data) {
			k->frames_address = s.address + o->bias;
			k->frames_bytes = s.bytes;
			k->frames = s.data;
		}
	} else {
		k->frames = o->eh_frame;
		k->frames_bytes = o->eh_frame_bytes;
		k->frames_address = o->eh_frame_address;
	}
	if (k->frames)
		make_table(u, k);
	return k;
}

/* ------------------------------------------------------------------------------------------- libunwind's accessors */

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need_unwind_info, void *arg)
{
	struct unwinder *u = arg;
	struct unwind_object o;
	unw_dyn_info_t di;
	struct known *k;
	int ret;

	k = u->view->find(u->view->context, ip, &o) ? learn(u, &o) : NULL;
	if (!k || !k->nr_entries) {
		u->no_info = true;
		return -UNW_ENOINFO;
	}
	u->at = k;
	memset(&di, 0, sizeof(di));
	di.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	di.start_ip = o.start;
	di.end_ip = o.end;
	di.u.rti.segbase = k->segment_base;
	di.u.rti.table_data = k->table_address;
	di.u.rti.table_len = (unw_word_t)k->nr_entries * sizeof(struct table_entry) / sizeof(unw_word_t);
	ret = _Ux86_64_dwarf_search_unwind_table(as, ip, &di, pi, need_unwind_info, arg);
	if (ret < 0)
		u->no_info = true;
	/* libunwind keeps an expression by its address, and would read it later without asking whose it is */
	else if (k->nr_expressions &&
		 bsearch(&pi->start_ip, k->expressions, k->nr_expressions, sizeof(*k->expressions), by_address))
		u->forget = true;
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
 * Add those bytes of the word at address that lie in [base, base + bytes); false: none does.  libunwind reads whole words at
 * multiples of 8, sections need not begin or end there.
 */
static bool read_word(const void *data, uint64_t base, uint64_t bytes, uint64_t address, uint64_t *word)
{
	uint64_t skip = base - address < 8 ? base - address : 0, at = address + skip - base, part = 0;

	if (!data || at >= bytes)
		return false;
	memcpy((char *)&part + skip, (const char *)data + at, bytes - at < 8 - skip ? bytes - at : 8 - skip);
	*word |= part;
	return true;
}

static bool read_known(const struct known *k, uint64_t address, uint64_t *word)
{
	bool table, frames;

	if (!k)
		return false;
	*word = 0;
	table = read_word(k->table, k->table_address, (uint64_t)k->nr_entries * sizeof(*k->table), address, word);
	frames = read_word(k->frames, k->frames_address, k->frames_bytes, address, word);
	return table || frames;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write, void *arg)
{
	struct unwinder *u = arg;
	uint64_t sp = u->input->registers.value[UNWIND_RSP];

	(void)as;
	if (write)
		return -UNW_EINVAL;
	/* before the stack, which a hostile trace may have put at the same address */
	if (read_known(u->at, address, value))
		return 0;
	if (address - sp < u->input->stack_bytes) {
		if (u->input->stack_bytes - (address - sp) < 8) {
			u->truncated = true;
			return -UNW_EINVAL;
		}
		memcpy(value, u->input->stack + (address - sp), 8);
		return 0;
	}
	if (u->at && address - u->at->start < u->at->end - u->at->start) { /* a personality's pointer: nobody calls it here */
		*value = 0;
		return 0;
	}
	if (address > sp && address - sp < (64u << 20)) /* a stack that goes on behind the snapshot */
		u->truncated = true;
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t n, unw_word_t *value, int write, void *arg)
{
	struct unwinder *u = arg;

	(void)as;
	if (write || n < 0 || n >= UNWIND_REGISTERS || !(u->input->registers.known & (1u << n)))
		return -UNW_EBADREG;
	*value = u->input->registers.value[n];
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

int unwinder_create(struct unwinder **out, struct diag *d)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr, .access_mem = access_mem, .access_reg = access_reg,
		.access_fpreg = access_fpreg, .resume = resume, .get_proc_name = get_proc_name,
	};
	struct unwinder *u = calloc(1, sizeof(*u));

	if (u)
		u->space = unw_create_addr_space(&accessors, 0);
	if (!u || !u->space) {
		free(u);
		return diag_fail(d, ENOMEM, "no memory for libunwind");
	}
	unw_set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	*out = u;
	return 0;
}

void unwinder_destroy(struct unwinder *u)
{
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct known *next, *k = u->known[b]; k; k = next) {
			next = k->next;
			free(k->table);
			free(k->expressions);
			free(k);
		}
	unw_destroy_addr_space(u->space);
	free(u);
}

/* --------------------------------------------------------------------------------------------------------- the walk */

static void read_registers(unw_cursor_t *c, struct unwind_frame *f)
{
	static const unsigned char kept[] = { 3, 6, 7, 12, 13, 14, 15, 16 }; /* what calls preserve, and rsp, rip */

	f->registers.known = 0;
	for (size_t i = 0; i < sizeof(kept); i++) {
		unw_word_t value;

		if (unw_get_reg(c, kept[i], &value) == 0) {
			f->registers.value[kept[i]] = value;
			f->registers.known |= 1u << kept[i];
		}
	}
}

enum unwind_end unwind_walk(struct unwinder *u, const struct unwind_space *space, const struct unwind_input *input,
			    bool (*frame)(void *context, const struct unwind_frame *f), void *context)
{
	struct unwind_frame f = { 0 };
	uint64_t sp = input->registers.value[UNWIND_RSP];
	unw_cursor_t cursor;

	f.ip = input->registers.value[UNWIND_RIP];
	f.registers = input->registers;
	if (!frame(context, &f))
		return UNWIND_STOPPED;
	if (space->generation != u->generation)
		unw_flush_cache(u->space, 0, 0);
	u->generation = space->generation;
	u->view = space;
	u->input = input;
	u->at = NULL;
	u->no_info = u->truncated = false;
	if (unw_init_remote(&cursor, u->space, u) < 0)
		return UNWIND_BROKEN;
	for (f.depth = 1; f.depth < UNWIND_FRAMES_MAX; f.depth++) {
		unw_word_t ip, new_sp;
		int ret;

		u->forget = false;
		ret = unw_step(&cursor);
		if (u->forget)
			unw_flush_cache(u->space, 0, 0);
		if (u->no_info)
			return UNWIND_NO_INFO;
		if (u->truncated)
			return UNWIND_TRUNCATED;
		if (ret == 0)
			return UNWIND_COMPLETE;
		if (ret < 0 || unw_get_reg(&cursor, UNW_REG_IP, &ip) || unw_get_reg(&cursor, UNW_REG_SP, &new_sp))
			return u->truncated ? UNWIND_TRUNCATED : UNWIND_BROKEN;
		if (ip == 0)
			return UNWIND_COMPLETE;
		if (new_sp <= sp)
			return UNWIND_BROKEN;
		sp = new_sp;
		f.ip = ip;
		read_registers(&cursor, &f);
		if (!frame(context, &f))
			return UNWIND_STOPPED;
	}
	return UNWIND_BROKEN;
}
