/* SPDX-License-Identifier: MIT */
/*
 * Registers SQLite's statements, in any program that uses its shared library as Debian builds it.  The library exports all its functions
 * and so calls them through slots. Six of these slots are replaced by hooks, which are called when a statement is prepared, changed, ended
 * or freed. None is called for a row.
 *
 * The address of the running instruction is in the frame of sqlite3VdbeExec, at a place that depends on the build.  The place is learnt
 * when statements end, because that function then executes "Halt", and the address of this instruction is in its frame.
 */
#include "shim/engines/sqlite.h"

#include "agent/guest/sys.h"
#include "shim/engines/library.h"

#include <string.h>

#define FRAME_WORDS 64u /* words of the frame of sqlite3VdbeExec that are searched */
#define HALTS_WANTED 3
#define HALTS_MAX 64
#define SQLITE_VERSION "sqlite3_libversion"

struct sqlite sqlite;

/* This is the state of learning in which word of its frame sqlite3VdbeExec has the address of the running instruction. */
static struct {
	uint32_t is_on; /* a thread is learning */
	uint32_t nr_halts, nr_matches;
	uint64_t candidates; /* a bit for each word that had the address at every match */
} learning;

/* ---------------------------------------------------------------------------------------------------------- learning */

static void set_learnt_offset(uint32_t word)
{
	__atomic_store_n(&sqlite.offset, word * 8 + 1, __ATOMIC_RELEASE);
	if (jitreg_step_word(sqlite.exec, word * 8))
		__atomic_store_n(&sqlite.recorder, 0, __ATOMIC_RELEASE); /* the next statement registers all again, and the word as well */
}

static void announce_unknown_frame(void)
{
	const char *(*version)(void);

	*(void **)&version = object_find_symbol(&sqlite.library, SQLITE_VERSION);
	announce_lack(HOST_SQLITE_STEP, version ? version() : "",
		      "the instruction that runs was not found in the frame of sqlite3VdbeExec");
}

/* Searches the frame of sqlite3VdbeExec, which begins at frame. The function executes "Halt" of this statement then, unless an error ended
 * it or the frame is that of a function behind it. */
static void learn_offset_from_frame(uint64_t vdbe, const uint64_t *frame)
{
	struct sqlite_ops ops = { 0, 0, 1 };
	uint64_t found = 0;

	learning.nr_halts++;
	if (!sqlite_find_instructions(vdbe, &ops))
		ops.nr = 0;
	for (uint32_t i = 0; i < FRAME_WORDS; i++) {
		uint64_t at = frame[i] - ops.first;

		if (at < (uint64_t)ops.nr * ops.stride && at % ops.stride == 0 &&
		    strcmp(sqlite_opcode_name(((const struct sqlite_op *)frame[i])->opcode), "Halt") == 0)
			found |= 1ull << i;
	}
	if (found && learning.candidates & found) {
		learning.candidates &= found;
		learning.nr_matches++;
	} else if (found) { /* this is the first match, or an error ended an earlier statement elsewhere */
		learning.candidates = found;
		learning.nr_matches = 1;
	}
	if (learning.nr_matches >= HALTS_WANTED && !(learning.candidates & (learning.candidates - 1)))
		set_learnt_offset((uint32_t)__builtin_ctzll(learning.candidates));
	else if (learning.nr_halts == HALTS_MAX)
		announce_unknown_frame();
}

/* ------------------------------------------------------------------------------------------------------------- hooks */

static library_function *set_sql, *swap, *delete, *halt, *open_table, *set_key;

/*
 * SQLite calls this with (statement, text, ...) when a statement was prepared. For a text without a statement (a comment) the first
 * argument is NULL.
 */
static uint64_t on_set_sql(LIBRARY_PARAMETERS)
{
	uint64_t result = set_sql(LIBRARY_ARGUMENTS);

	if (a && guest_is_on())
		sqlite_statement_register(a, (uint64_t)(uintptr_t)sqlite.parser((void *)a));
	return result;
}

/* SQLite calls this with (new, old) when a statement is prepared again. The old statement gets the program of the new one. */
static uint64_t on_statement_swap(LIBRARY_PARAMETERS)
{
	uint64_t result = swap(LIBRARY_ARGUMENTS);

	if (guest_is_on()) {
		jitreg_object_end(a);
		jitreg_object_end(b);
		sqlite_statement_register(b, (uint64_t)(uintptr_t)sqlite.parser((void *)b));
	}
	return result;
}

static uint64_t on_statement_delete(LIBRARY_PARAMETERS)
{
	if (a && guest_is_on())
		jitreg_object_end(a);
	return delete(LIBRARY_ARGUMENTS);
}

static uint64_t on_statement_halt(LIBRARY_PARAMETERS)
{
	const uint64_t *frame = __builtin_frame_address(0);

	if (__builtin_expect(!__atomic_load_n(&sqlite.offset, __ATOMIC_RELAXED), 0) && guest_is_on() && learning.nr_halts < HALTS_MAX &&
	    frame[1] - sqlite.exec < 65536 && !__atomic_exchange_n(&learning.is_on, 1, __ATOMIC_ACQUIRE)) {
		if (sys_readable_range(frame, (FRAME_WORDS + 2) * sizeof(*frame)) && !sqlite.offset)
			learn_offset_from_frame(a, frame + 2);
		__atomic_store_n(&learning.is_on, 0, __ATOMIC_RELEASE);
	}
	return halt(LIBRARY_ARGUMENTS);
}

/*
 * SQLite calls this with (parse, cursor, database, table, ...) when the instruction that opens a table is generated. The table's first
 * member is its name.
 */
static uint64_t on_open_table(LIBRARY_PARAMETERS)
{
	uint64_t name;

	if (guest_is_on() && sys_readable_range((const void *)d, sizeof(name))) {
		memcpy(&name, (const void *)d, sizeof(name));
		sqlite_remember_table_name(a, (int32_t)b, "", name);
	}
	return open_table(LIBRARY_ARGUMENTS);
}

/*
 * SQLite calls this with (parse, index) when the instruction that opens a cursor was generated last. The index's first member is its name.
 */
static uint64_t on_set_index_key(LIBRARY_PARAMETERS)
{
	if (guest_is_on() && sys_readable_range((const void *)b, sizeof(uint64_t))) {
		void *vdbe = sqlite.vdbe_of((void *)a);
		const struct sqlite_op *op = vdbe && sqlite.nr_ops(vdbe) > 0 ? sqlite.last_op(vdbe) : NULL;
		uint64_t name;

		memcpy(&name, (const void *)b, sizeof(name));
		if (op && sqlite.kind[op->opcode] == SQLITE_OPENS)
			sqlite_remember_table_name(a, op->p1, "index ", name);
	}
	return set_key(LIBRARY_ARGUMENTS);
}

/* --------------------------------------------------------------------------------------------------------- the library */

/* The library's table of opcode names has no end mark.  The last name is "Explain", or "Abortable" behind it. */
static void find_opcode_kinds(void)
{
	bool last = false;

	for (int i = 0; i < 256; i++) {
		const char *name = sqlite.opcode_name(i);

		if (!object_contains(&sqlite.library, name, 16) || (last && strcmp(name, "Abortable") != 0))
			return;
		sqlite.nr_opcodes = i + 1;
		sqlite.kind[i] = (unsigned char)sqlite_kind_of_opcode(name);
		last |= strcmp(name, "Explain") == 0;
	}
}

/* Returns NULL, or the name of what is missing. */
static const char *find_sqlite_functions(const struct object *o)
{
	static const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "sqlite3_step", &sqlite.step },
		{ "sqlite3VdbeExec", &sqlite.exec },
		{ "sqlite3OpcodeName", &sqlite.opcode_name },
		{ "sqlite3VdbeGetOp", &sqlite.get_op },
		{ "sqlite3VdbeCurrentAddr", &sqlite.nr_ops },
		{ "sqlite3_sql", &sqlite.sql },
		{ "sqlite3VdbeParser", &sqlite.parser },
		{ "sqlite3GetVdbe", &sqlite.vdbe_of },
		{ "sqlite3VdbeGetLastOp", &sqlite.last_op },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = object_find_symbol(o, functions[i].name);

		if (!found)
			return functions[i].name;
		memcpy(functions[i].to, &found, sizeof(found));
	}
	find_opcode_kinds();
	return NULL;
}

static const struct library library = {
	.host = HOST_SQLITE,
	.title = "SQLite",
	.own_name = "sqlite",
	.version = SQLITE_VERSION,
	.with = "statements and their instructions registered as they are prepared",
	.hook = {
		{ { SQLITE_SET_SQL }, on_set_sql, &set_sql, false },
		{ { "sqlite3VdbeSwap" }, on_statement_swap, &swap, false },
		{ { "sqlite3VdbeDelete" }, on_statement_delete, &delete, false },
		{ { "sqlite3VdbeHalt" }, on_statement_halt, &halt, false },
		{ { "sqlite3OpenTable" }, on_open_table, &open_table, false },
		{ { "sqlite3VdbeSetP4KeyInfo" }, on_set_index_key, &set_key, false },
	},
	.find = find_sqlite_functions,
	.object = &sqlite.library,
};

void sqlite_hook_object(const struct object *o)
{
	library_hook_object(&library, o, "sqlite3_step", sqlite_hook_object);
}
