/* SPDX-License-Identifier: MIT */
/*
 * Finds functions that a compiler inlined at an address, by libdw. The ranges of a unit's subprograms go into one sorted array when an
 * address in the unit is first asked for. The search then walks the tree of one subprogram. Trees are untrusted, so depth and steps are
 * bounded.
 */
#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <dwarf.h>
#include <stdlib.h>

#define RANGES_MAX (16u << 20)
#define ATTRIBUTES_MAX 256 /* maximum number of attributes of an abbreviation; compilers use up to 30 */
#define DEPTH_MAX 64
#define STEPS_MAX 100000 /* DIEs looked at for one address */
#define DIES_A_LOOK 16	 /* DIEs between two looks at the clock, which is a system call and takes longer than a DIE */
#define SCOPES_MAX 8	 /* depth of nested namespaces and classes */

static bool add_function_body(struct elf_object *o, uint64_t start, uint64_t end, Dwarf_Die *die)
{
	if (o->nr_bodies >= RANGES_MAX || !GROW(o->bodies, o->nr_bodies, o->bodies_capacity))
		return false;
	o->bodies[o->nr_bodies++] = (struct body){ start, end, dwarf_cu_getdwarf(die->cu), dwarf_dieoffset(die) };
	return true;
}

/* Spends the time of every DIES_A_LOOK-th DIE and those before it. Returns false if the budget is exceeded. */
static bool spend_die(const struct elf_object *o, uint64_t *since, unsigned *nr)
{
	return ++*nr % DIES_A_LOOK || elf_spend_time(o, since);
}

/* Adds the subprograms below a unit, a namespace or a class. */
static void add_scope_bodies(struct elf_object *o, Dwarf_Die *scope, int depth)
{
	uint64_t since = budget_clock();
	unsigned nr = 0;
	Dwarf_Die die;

	if (depth > SCOPES_MAX || dwarf_child(scope, &die) != 0)
		return;
	do {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;

		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
				if (!elf_spend(o, 1) || (start < end && !add_function_body(o, start, end, &die)))
					return;
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			add_scope_bodies(o, &die, depth + 1);
			break;
		}
	} while (spend_die(o, &since, &nr) && dwarf_siblingof(&die, &die) == 0);
}

/* Has each abbreviation of a unit few attributes? Not if the budget is exceeded, either. When libdw skips a DIE, it reads all of its
 * attributes without a check of the budget. Attributes that are flags take no bytes, so a malicious file could make libdw read a million of
 * them for each DIE. */
static bool has_few_attributes(const struct elf_object *o, Dwarf_Die *unit)
{
	Dwarf_Off at = 0;
	Dwarf_Abbrev *a;
	size_t bytes, nr;

	while ((a = dwarf_getabbrev(unit, at, &bytes)) && a != DWARF_END_ABBREV) {
		if (dwarf_getattrcnt(a, &nr) || nr > ATTRIBUTES_MAX || !elf_spend(o, 1 + nr / 8))
			return false;
		at += bytes;
	}
	return a == DWARF_END_ABBREV;
}

static int compare_body_starts(const void *a, const void *b)
{
	const struct body *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void add_unit(struct elf_object *o, struct unit *unit)
{
	uint64_t since = budget_clock();
	Dwarf_Die die, more;
	uint8_t type;

	unit->bodies_read = true;
	unit->first_body = o->nr_bodies;
	if (dwarf_offdie(o->dwarf, unit->die, &die)) {
		/* .dwo files are opened only for a debug file of this machine, since DWARF in a trace could name any file */
		bool is_split = o->dwarf_elf && elf_may_read_split(o, &die) &&
				dwarf_cu_info(die.cu, NULL, &type, NULL, &more, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton && more.cu;

		if (elf_spend(o, 0) && (!is_split || elf_may_read_lines(o, &die)) && has_few_attributes(o, is_split ? &more : &die))
			add_scope_bodies(o, is_split ? &more : &die, 0);
	}
	unit->nr_bodies = o->nr_bodies - unit->first_body;
	if (unit->nr_bodies)
		qsort(o->bodies + unit->first_body, unit->nr_bodies, sizeof(*o->bodies), compare_body_starts);
	elf_spend_time(o, &since);
}

static void read_everywhere(struct elf_object *o)
{
	o->bodies_read = true;
	elf_units_read(o);
	for (size_t i = 0; i < o->nr_units; i++)
		if (o->units[i].is_everywhere)
			add_unit(o, &o->units[i]);
	o->nr_everywhere = o->nr_bodies;
	if (o->nr_bodies)
		qsort(o->bodies, o->nr_bodies, sizeof(*o->bodies), compare_body_starts);
}

static const struct body *search(const struct body *body, size_t nr, uint64_t address)
{
	size_t up_to = SORTED_COUNT(nr, i, body[i].start <= address);

	return up_to && address < body[up_to - 1].end ? &body[up_to - 1] : NULL;
}

static const struct body *find_body(struct elf_object *o, uint64_t address)
{
	const struct body *body = NULL;
	struct unit *unit;

	if (!o->bodies_read)
		read_everywhere(o);
	unit = elf_find_unit(o, address);
	if (unit && !unit->bodies_read)
		add_unit(o, unit);
	if (unit && unit->nr_bodies)
		body = search(o->bodies + unit->first_body, unit->nr_bodies, address);
	return body || !o->nr_everywhere ? body : search(o->bodies, o->nr_everywhere, address);
}

static const char *linkage_name_of_die(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	/* the linkage name is the one that symbol tables have */
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

/* Reads the place of a function's declaration, which an inlined function has in its abstract instance. */
static struct elf_declaration declaration_of_die(struct elf_object *o, Dwarf_Die *die)
{
	struct elf_declaration d = { 0 };
	Dwarf_Die unit;
	int line;

	if (dwarf_decl_line(die, &line) == 0 && line > 0)
		d.line = (uint32_t)line;
	if (dwarf_diecu(die, &unit, NULL, NULL) && elf_may_read_lines(o, &unit))
		d.file = dwarf_decl_file(die);
	d.file = d.file ? debug_keep_text(o, d.file) : NULL;
	return d;
}

static void read_inlined_call(struct elf_object *o, Dwarf_Die *die, struct elf_inline *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t nr;

	if (dwarf_attr(die, DW_AT_call_line, &attribute) && dwarf_formudata(&attribute, &number) == 0 && number <= UINT32_MAX)
		out->call_line = (uint32_t)number;
	if (dwarf_attr(die, DW_AT_call_file, &attribute) && dwarf_formudata(&attribute, &number) == 0 &&
	    dwarf_diecu(die, &unit, NULL, NULL) && elf_may_read_lines(o, &unit) && dwarf_getsrcfiles(&unit, &files, &nr) == 0 &&
	    number < nr)
		out->call_file = dwarf_filesrc(files, number, NULL, NULL);
	out->call_file = debug_keep_text(o, out->call_file ? out->call_file : "");
	out->declared = declaration_of_die(o, die);
}

bool elf_find_declaration(struct elf_object *o, uint64_t address, struct elf_declaration *out)
{
	const struct body *body;
	Dwarf_Die die;

	if (elf_go_declaration(o, address, out))
		return true;
	body = find_body(o, address);
	if (!body || !elf_spend(o, 0) || !dwarf_offdie(body->dwarf, body->die, &die))
		return false;
	*out = declaration_of_die(o, &die);
	return out->line;
}

size_t elf_find_inlines(struct elf_object *o, uint64_t address, struct elf_inline *out, size_t max)
{
	const struct body *body = find_body(o, address);
	uint64_t since = body ? budget_clock() : 0;
	struct elf_inline found[DEPTH_MAX];
	size_t nr = 0, steps = 0;
	unsigned dies = 0;
	Dwarf_Die die, child;
	bool deeper;

	if (!body || !elf_spend(o, 0) || !dwarf_offdie(body->dwarf, body->die, &die))
		return elf_go_inlines(o, address, out, max);
	do {
		deeper = false;
		if (dwarf_child(&die, &child) != 0)
			break;
		do {
			int tag = dwarf_tag(&child);

			if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) || dwarf_haspc(&child, address) != 1)
				continue;
			if (tag == DW_TAG_inlined_subroutine) {
				found[nr] = (struct elf_inline){ .name = linkage_name_of_die(&child) };
				read_inlined_call(o, &child, &found[nr]);
				if (found[nr].name) {
					found[nr].name = debug_keep_text(o, found[nr].name);
					nr++;
				}
			}
			die = child;
			deeper = true;
			break;
		} while (++steps < STEPS_MAX && spend_die(o, &since, &dies) && dwarf_siblingof(&child, &child) == 0);
	} while (deeper && nr < DEPTH_MAX && ++steps < STEPS_MAX && elf_spend_time(o, &since));
	elf_spend_time(o, &since); /* that of the last DIEs */
	for (size_t i = 0; i < nr && i < max; i++)
		out[i] = found[nr - 1 - i];
	return nr < max ? nr : max;
}
