/* SPDX-License-Identifier: MIT */
/* Registers a statement of SQLite, which is its text, its program and those of its triggers, and the tables that its own program opens. */
#include "shim/engines/sqlite.h"

#include "agent/guest/sys.h"
#include "jitreg/engines/hash.h"
#include "jitreg/engines/sql_text.h"

#include <stdio.h>
#include <string.h>

#define PROGRAMS_MAX 20000 /* programs whose instructions are registered; a host that generates ever new texts exceeds it */
#define TEXT_BYTES 4096	   /* bytes of a statement's text that distinguish it from others */
#define DETAIL_BYTES 61440
#define CURSORS 64 /* cursors of one program that have names */
#define SUBPROGRAMS 16

enum { PREPARING = 1, COMMITTING, CHECKPOINTING };

static bool is_component_registered(uint64_t id)
{
	return __atomic_load_n(&sqlite.said[id % SQLITE_SAID], __ATOMIC_RELAXED) == id;
}

static void mark_component_registered(uint64_t id)
{
	__atomic_store_n(&sqlite.said[id % SQLITE_SAID], id, __ATOMIC_RELAXED);
}

const char *sqlite_opcode_name(int opcode)
{
	return opcode >= 0 && opcode < sqlite.nr_opcodes ? sqlite.opcode_name(opcode) : NULL;
}

static struct jitreg_ref ref_of_opcode(uint64_t id)
{
	return jitreg_at(SQLITE_LEVEL_OPCODE, id);
}

/* Registers levels and classes of work, which a recorder needs before all else.  Returns false if another thread is doing so, or a record
 * was refused. */
static bool register_levels_and_classes(void)
{
	static const struct {
		uint64_t id;
		const char *name, *function;
	} classes[] = {
		{ PREPARING, "(preparing)", "sqlite3RunParser" },
		{ COMMITTING, "(commit)", "sqlite3BtreeCommitPhaseOne" },
		{ COMMITTING, "(commit)", "sqlite3BtreeCommitPhaseTwo" },
		{ CHECKPOINTING, "(checkpoint)", "sqlite3PagerCheckpoint" },
	};
	uint32_t recorder = __atomic_load_n(&jitreg_recorders, __ATOMIC_RELAXED), offset;
	int ret;

	if (__atomic_load_n(&sqlite.recorder, __ATOMIC_ACQUIRE) == recorder)
		return true;
	if (__atomic_exchange_n(&sqlite.telling, 1, __ATOMIC_ACQUIRE))
		return false;
	for (size_t i = 0; i < SQLITE_SAID; i++)
		__atomic_store_n(&sqlite.said[i], 0, __ATOMIC_RELAXED);
	ret = jitreg_level(SQLITE_LEVEL_TABLE, "table", 0, 0);
	ret = ret ? ret : jitreg_level(SQLITE_LEVEL_QUERY, "query", 0, 0);
	ret = ret ? ret : jitreg_level(SQLITE_LEVEL_OPCODE, "opcode", SQLITE_LEVEL_QUERY, JITREG_LEVEL_PLAN);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && !ret; i++) {
		struct jitreg_object_component of = { SQLITE_LEVEL_OPCODE, classes[i].id };
		struct jitreg_function function = { (uint64_t)(uintptr_t)object_find_symbol(&sqlite.library, classes[i].function) };

		if (!function.address)
			continue;
		ret = jitreg_component(of.level, of.component, classes[i].name, NULL, JITREG_COMPONENT_COMMON);
		ret = ret ? ret : jitreg_object((uint64_t)(uintptr_t)&classes[i], 0, JITREG_OBJECT_CLASS, &function, 1, &of, 1);
	}
	offset = __atomic_load_n(&sqlite.offset, __ATOMIC_ACQUIRE);
	if (!ret && offset)
		ret = jitreg_step_word(sqlite.exec, offset - 1);
	if (!ret)
		__atomic_store_n(&sqlite.recorder, recorder, __ATOMIC_RELEASE);
	__atomic_store_n(&sqlite.telling, 0, __ATOMIC_RELEASE);
	return !ret;
}

/* ------------------------------------------------------------------------------------------------------------- names */

static struct table_name *slot_of_table_name(uint64_t parse, int32_t cursor)
{
	return &sqlite.table[((parse >> 4) * 31 + (uint32_t)cursor) % SQLITE_TABLES];
}

void sqlite_remember_table_name(uint64_t parse, int32_t cursor, const char *kind, uint64_t name)
{
	struct table_name *t = slot_of_table_name(parse, cursor);
	char text[SQLITE_NAME_BYTES];

	if (!sys_readable_range((const void *)name, 1))
		return;
	for (size_t i = 0; i < sizeof(text); i++) { /* the pages of the text are checked one by one */
		if ((name + i) % SYS_PAGE_BYTES == 0 && !sys_readable((const void *)(name + i)))
			return;
		text[i] = ((const char *)name)[i];
		if (!text[i])
			break;
		if ((unsigned char)text[i] < ' ')
			return;
	}
	text[sizeof(text) - 1] = 0;
	__atomic_store_n(&t->parse, 0, __ATOMIC_RELEASE);
	t->cursor = cursor;
	snprintf(t->name, sizeof(t->name), "%s%.*s", kind, (int)(sizeof(t->name) - 1 - strlen(kind)), text);
	__atomic_store_n(&t->parse, parse, __ATOMIC_RELEASE);
}

struct cursors {
	uint32_t nr;
	struct {
		int32_t cursor;
		char name[SQLITE_NAME_BYTES];
	} of[CURSORS];
};

static const char *find_cursor_name(const struct cursors *c, int32_t cursor)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->of[i].cursor == cursor)
			return c->of[i].name;
	return NULL;
}

static void add_cursor_name(struct cursors *c, int32_t cursor, const char *name)
{
	if (c->nr == CURSORS || find_cursor_name(c, cursor))
		return;
	c->of[c->nr].cursor = cursor;
	snprintf(c->of[c->nr++].name, SQLITE_NAME_BYTES, "%s", name);
}

static const struct sqlite_op *instruction_at(uint64_t first, uint32_t stride, uint32_t n)
{
	return (const struct sqlite_op *)(first + (uint64_t)n * stride);
}

static void find_cursor_names(uint64_t first, uint32_t stride, uint32_t nr, uint64_t parse, struct cursors *to)
{
	to->nr = 0;
	for (uint32_t n = 0; n < nr; n++) {
		const struct sqlite_op *op = instruction_at(first, stride, n);
		struct table_name *t = slot_of_table_name(parse, op->p1), copy;

		if (sqlite.kind[op->opcode] == SQLITE_OPENS_OTHER)
			add_cursor_name(to, op->p1, sqlite_cursor_label(sqlite_opcode_name(op->opcode)));
		if (sqlite.kind[op->opcode] != SQLITE_OPENS || !parse || __atomic_load_n(&t->parse, __ATOMIC_ACQUIRE) != parse)
			continue;
		copy = *t;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (copy.cursor == op->p1 && __atomic_load_n(&t->parse, __ATOMIC_RELAXED) == parse)
			add_cursor_name(to, op->p1, copy.name);
	}
}

/* ---------------------------------------------------------------------------------------------------------- programs */

/* Registers an instruction's component, and the component of the table that it works on, if the table's name is known. Returns 0 or
 * -errno. */
static int register_instruction(uint64_t program, uint64_t query, uint32_t n, const struct sqlite_op *op, const struct cursors *c)
{
	const enum sqlite_kind kind = (enum sqlite_kind)sqlite.kind[op->opcode];
	const char *table = kind != SQLITE_OTHER && kind != SQLITE_CALLS ? find_cursor_name(c, op->p1) : NULL;
	uint64_t id = program + 1 + n, of = table ? engine_hash(ENGINE_HASH_BEGIN, table, strlen(table)) : 0;
	char name[128], detail[80];
	int ret;

	sqlite_op_name(op, n, sqlite_opcode_name(op->opcode), table, name, sizeof(name));
	sqlite_op_detail(op, detail, sizeof(detail));
	ret = jitreg_component(SQLITE_LEVEL_OPCODE, id, name, detail, JITREG_COMPONENT_COMMON);
	ret = ret ? ret : jitreg_link_to(ref_of_opcode(id), jitreg_at(SQLITE_LEVEL_QUERY, query), 1);
	if (ret || !of)
		return ret;
	if (!is_component_registered(of)) {
		ret = jitreg_component(SQLITE_LEVEL_TABLE, of, table, NULL, JITREG_COMPONENT_COMMON);
		if (ret)
			return ret;
		mark_component_registered(of);
	}
	return jitreg_link_to(ref_of_opcode(id), jitreg_at(SQLITE_LEVEL_TABLE, of), 1);
}

/* Registers a program.  Returns its number, or 0 if it was not registered. */
static uint64_t register_program(uint64_t query, uint64_t first, uint32_t stride, uint32_t nr, uint64_t parse)
{
	struct cursors c;
	uint64_t program = query;

	find_cursor_names(first, stride, nr, parse, &c);
	for (uint32_t n = 0; n < nr; n++) /* p4 and the rest are left out, because they differ from process to process */
		program = engine_hash(program, instruction_at(first, stride, n), offsetof(struct sqlite_op, p4));
	for (uint32_t i = 0; i < c.nr; i++)
		program = engine_hash(program, c.of[i].name, strlen(c.of[i].name));
	program &= SQLITE_PROGRAM_MASK;
	if (is_component_registered(program))
		return program;
	if (__atomic_add_fetch(&sqlite.nr_programs, 1, __ATOMIC_RELAXED) > PROGRAMS_MAX)
		return 0;
	for (uint32_t n = 0; n < nr; n++)
		if (register_instruction(program, query, n, instruction_at(first, stride, n), &c))
			return 0;
	mark_component_registered(program);
	return program;
}

struct subprogram { /* the first members of SQLite's struct SubProgram */
	uint64_t first;
	int32_t nr;
};

static bool is_readable_program(uint64_t first, uint32_t nr, uint32_t stride)
{
	return nr && nr <= SQLITE_OPS_MAX && first % 8 == 0 && sys_readable_range((const void *)first, (size_t)nr * stride) &&
	       sqlite_is_program((const void *)first, nr, stride, sqlite_opcode_name);
}

/* Registers the programs of a statement and of its triggers, up to SUBPROGRAMS in all. */
static void register_programs(uint64_t vdbe, uint64_t query, uint64_t first, uint32_t stride, uint32_t nr, uint64_t parse)
{
	struct subprogram program[SUBPROGRAMS] = { { first, (int32_t)nr } };
	uint32_t nr_programs = 1;

	for (uint32_t i = 0; i < nr_programs; i++) {
		uint64_t id = register_program(query, program[i].first, stride, (uint32_t)program[i].nr, i ? 0 : parse);

		if (id)
			jitreg_object_steps(vdbe, program[i].first, stride, (uint32_t)program[i].nr, SQLITE_LEVEL_OPCODE, id + 1);
		for (int32_t n = 0; n < program[i].nr && nr_programs < SUBPROGRAMS; n++) {
			const struct sqlite_op *op = instruction_at(program[i].first, stride, (uint32_t)n);
			struct subprogram s;
			uint32_t known = 0;

			if (sqlite.kind[op->opcode] != SQLITE_CALLS || !sys_readable_range((const void *)op->p4, sizeof(s)))
				continue;
			memcpy(&s, (const void *)op->p4, sizeof(s));
			while (known < nr_programs && program[known].first != s.first)
				known++;
			if (known == nr_programs && s.nr > 0 && is_readable_program(s.first, (uint32_t)s.nr, stride))
				program[nr_programs++] = s;
		}
	}
}

/* Registers the component of a query, and returns its number, which is a hash of the text without literals. */
static uint64_t register_query(const char *text)
{
	char buffer[TEXT_BYTES + 2], name[256], *copy = buffer + 1;
	size_t bytes = strnlen(text, DETAIL_BYTES), n = bytes < TEXT_BYTES ? bytes : TEXT_BYTES;
	uint64_t query;

	memcpy(copy, text, n);
	buffer[0] = copy[n] = 0;
	n = sql_text_normalise(copy, n);
	query = engine_hash(ENGINE_HASH_BEGIN, copy, n);
	if (is_component_registered(query))
		return query;
	sql_text_shorten(copy, n, name, sizeof(name));
	if (bytes == DETAIL_BYTES) {
		memcpy(copy, text, TEXT_BYTES);
		copy[TEXT_BYTES] = 0;
		text = copy;
	}
	if (jitreg_component(SQLITE_LEVEL_QUERY, query, name, text, JITREG_COMPONENT_COMMON) == 0)
		mark_component_registered(query);
	return query;
}

bool sqlite_find_instructions(uint64_t vdbe, struct sqlite_ops *to)
{
	int nr = sqlite.nr_ops((void *)vdbe);

	to->first = (uint64_t)(uintptr_t)sqlite.get_op((void *)vdbe, 0);
	/* if memory ran out, get_op() returns an instruction in the library's own data */
	if (nr < 2 || nr > SQLITE_OPS_MAX || object_contains(&sqlite.library, (const void *)to->first, 1))
		return false;
	to->nr = (uint32_t)nr;
	to->stride = (uint32_t)((uint64_t)(uintptr_t)sqlite.get_op((void *)vdbe, 1) - to->first);
	return to->stride >= sizeof(struct sqlite_op) && to->stride <= 256 && is_readable_program(to->first, to->nr, to->stride);
}

void sqlite_statement_register(uint64_t vdbe, uint64_t parse)
{
	struct jitreg_function step = { sqlite.step };
	struct jitreg_object_component of = { .level = SQLITE_LEVEL_QUERY };
	const char *text = sqlite.sql((void *)vdbe);
	struct sqlite_ops ops;

	if (!text || !register_levels_and_classes())
		return;
	of.component = register_query(text);
	jitreg_object(vdbe, 0, 0, &step, 1, &of, 1);
	if (sqlite_find_instructions(vdbe, &ops))
		register_programs(vdbe, of.component, ops.first, ops.stride, ops.nr, parse);
	else
		ANNOUNCE_ONCE("SQLite: instructions of a statement unavailable (unknown layout, or more than 20000)");
}
