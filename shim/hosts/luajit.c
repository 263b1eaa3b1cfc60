/* SPDX-License-Identifier: MIT */
/*
 * Adapts LuaJIT. A script attaches itself to the compiler's events (jit.attach) and calls back, through the foreign function interface or a
 * C function of Lua, with each trace's code and the line where it starts. Neither the environment nor the host's global names change.
 *
 * The luajit command reads LUA_INIT from the environment, a script to run before all others, and gets this script as the answer. Programs
 * that use LuaJIT as a library call luaL_openlibs for each state. The hook calls the real function, and then runs the script in that state.
 *
 * A trace runs in the interpreter's C frame, lowered by its spill area (lj_frame.h, lj_asm.c, vm_x64.dasc). The size of that area is in the
 * compiler's state of the trace, behind the address and size of its code, by which it is found.
 */
#include "shim/hosts/hosts.h"

#include "agent/guest/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_BYTES 16384
#define LINE_BYTES 2048

static char *(*real_getenv)(const char *);
static char *script;

/* `say` is the function that the script calls back.  In the command it is made by the foreign function interface.  In other programs it is
 * a C function of Lua, because a program may open that interface again, which invalidates what was made by it before. */
static const char command_text[] =
	"pcall(function()\n"
	"local ffi = require 'ffi'\n"
	"local say = ffi.cast('void (*)(int, uintptr_t, size_t, const char *, const char *, int, uintptr_t)', 0x%llxull)\n"
	"local begun = { [0] = coroutine.create(function() end) }\n"
	"local thread = ffi.abi('gc64') and tonumber(tostring(begun[0]):match('0x%%x+')) or 0\n";
static const char library_text[] =
	"local say = ...\n"
	"pcall(function()\n"
	"local begun, thread = {}, 0\n";
static const char script_text[] =
	"local util = require 'jit.util'\n"
	"local function on_trace(what, nr, func, pc, from, exit)\n"
	"  if what == 'start' then\n"
	"    local i = util.funcinfo(func, pc)\n"
	"    begun[nr] = { i.source or i.loc or '?', i.currentline or i.linedefined or 0, from, exit }\n"
	"  elseif what == 'stop' and begun[nr] then\n"
	"    local code, address = util.tracemc(nr)\n"
	"    local b = begun[nr]\n"
	"    local file = b[1]:sub(1, 1) == '@' and b[1]:sub(2) or b[1]:match('^=?([^\\n]*)')\n"
	"    local name = 'TRACE ' .. nr .. (b[3] and ' from ' .. b[3] .. '/' .. tostring(b[4]) or '') .. ' ' .. file .. ':' .. b[2]\n"
	"    begun[nr] = nil\n"
	"    if code then say(nr, address, #code, name, file, b[2], thread) end\n"
	"  elseif what == 'abort' then begun[nr] = nil end\n"
	"end\n"
	"local protected = pcall\n" /* LuaJIT prints errors of handlers */
	"jit.attach(function(...) protected(on_trace, ...) end, 'trace')\n"
	"end)\n";

/* The size of the interpreter's frame with the registers that are pushed for traces (CFRAME_SIZE_JIT of x86-64 with 64-bit references). */
#define FRAME_BYTES 96
static const struct frame_saved frame_saved[] = { { 6, 2 }, { 3, 3 }, { 15, 4 }, { 14, 5 }, { 12, 10 }, { 13, 11 } };

#define STATE_OF_THREAD 16 /* offset of lua_State.glref */
#define STATE_BYTES 4096   /* bytes of global_State and the compiler's state behind it that are searched */
#define SPILL_MAX 4096

/* Finds the size of a trace's spill area in its GCtrace, whose members are szmcode, mcode, mcloop, nchild, spadjust.  Returns -1 if it is
 * not found. */
static int find_trace_spill(uintptr_t thread, uintptr_t address, size_t bytes)
{
	const unsigned char *state;
	uint64_t code;
	uint32_t size;
	uint16_t spill;

	if (!thread || !sys_readable_range((const void *)(thread + STATE_OF_THREAD), sizeof(state)))
		return -1;
	memcpy(&state, (const void *)(thread + STATE_OF_THREAD), sizeof(state));
	if (!sys_readable_range(state, STATE_BYTES))
		return -1;
	for (size_t at = 8; at + 16 <= STATE_BYTES; at += 8) {
		memcpy(&code, state + at, 8);
		memcpy(&size, state + at - 4, 4);
		memcpy(&spill, state + at + 14, 2);
		if (code == address && size == bytes)
			return spill % 16 == 0 && spill < SPILL_MAX ? spill : -1;
	}
	return -1;
}

/*
 * Reads an addition to rsp at p. Returns the length of the instruction in bytes, or 0 if a different one is there. *out is the number that
 * is added.
 */
static int read_rsp_addition(const unsigned char *p, size_t bytes, int32_t *out)
{
	if (bytes >= 4 && p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xc4) {
		*out = (signed char)p[3];
		return 4;
	}
	if (bytes >= 7 && p[0] == 0x48 && p[1] == 0x81 && p[2] == 0xc4) {
		memcpy(out, p + 3, 4);
		return 7;
	}
	return 0;
}

/*
 * A trace lowers the stack pointer by its spill less its parent's, just before it stores that it runs (movl $number, disp(%r14)).  Before
 * it leaves for another trace (jmp) it raises the stack pointer by its whole spill.
 */
static void register_trace_frames(uintptr_t address, size_t bytes, int spill)
{
	const unsigned char *code = (const unsigned char *)address;
	struct frame_rule rule[3] = { { 0, FRAME_BYTES + (uint32_t)spill } };
	int nr = 1, length;
	int32_t by;

	for (size_t at = 0; spill && at + 2 < bytes; at++) {
		length = read_rsp_addition(code + at, bytes - at, &by);
		if (!length || by >= 0 || -by > spill || at + (size_t)length + 2 > bytes || code[at + (size_t)length] != 0x41 ||
		    code[at + (size_t)length + 1] != 0xc7)
			continue;
		rule[0].cfa += (uint32_t)by;
		rule[nr++] = (struct frame_rule){ (uint32_t)at + (uint32_t)length, FRAME_BYTES + (uint32_t)spill };
		break;
	}
	for (size_t back = 9; spill && back <= 12 && back < bytes; back += 3) {
		length = read_rsp_addition(code + bytes - back, back - 5, &by);
		if (length == (int)back - 5 && by == spill && code[bytes - 5] == 0xe9)
			rule[nr++] = (struct frame_rule){ (uint32_t)bytes - 5, FRAME_BYTES };
	}
	announce_frames(address, bytes, rule, nr, frame_saved, sizeof(frame_saved) / sizeof(frame_saved[0]));
}

/* The script calls this. Context: a host's thread that has compiled. */
static void register_trace(int number, uintptr_t address, size_t bytes, const char *name, const char *file, int line, uintptr_t thread)
{
	int spill = find_trace_spill(thread, address, bytes);

	unsigned char buffer[LINE_BYTES];
	struct line_table t = { .buffer = buffer, .capacity = sizeof(buffer) };

	if (line > 0 && line_table_add(&t, address, (uint32_t)line, file, strlen(file)))
		line_table_send(&t, address);
	jitreg_code_load(address, bytes, (uint64_t)number, name, (const void *)address);
	if (spill >= 0)
		register_trace_frames(address, bytes, spill);
}

/* Formats the script for LUA_INIT, with the user's own script behind it. Returns NULL if there is no room for the user's script, or it
 * contains "]", which would end the quotation of a file's name. */
static char *format_script_with_users(const char *users)
{
	size_t bytes;
	int n = snprintf(script, SCRIPT_BYTES, command_text, (unsigned long long)(uintptr_t)register_trace);

	n += snprintf(script + n, SCRIPT_BYTES - (size_t)n, "%s", script_text);
	if (!users)
		return script;
	bytes = strlen(users);
	if (bytes + 64 > SCRIPT_BYTES - (size_t)n || strchr(users, ']'))
		return NULL;
	if (*users == '@')
		snprintf(script + n, SCRIPT_BYTES - (size_t)n, "dofile([[%s]])\n", users + 1);
	else
		memcpy(script + n, users, bytes + 1);
	return script;
}

static char *on_lua_init_getenv(const char *name)
{
	static int answered; /* the interpreter reads LUA_INIT first, and scripts that read it later get the user's value */
	char *users = real_getenv(name), *ours;

	if (strcmp(name, "LUA_INIT") != 0 || !guest_is_on() || __atomic_exchange_n(&answered, 1, __ATOMIC_RELAXED))
		return users;
	ours = format_script_with_users(users);
	if (!ours)
		return users;
	ANNOUNCE_ONCE("LuaJIT: traces registered through jit.attach, by a script prepended to LUA_INIT");
	return ours;
}

static bool allocate_script(void)
{
	long p = sys_mmap(NULL, SCRIPT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p > 0)
		script = (char *)p;
	return p > 0;
}

static void hook_luajit_command(const struct object *program)
{
	if (allocate_script() && slot_replace(program, "getenv", (void *)on_lua_init_getenv, &real_getenv))
		announce_lack(HOST_LUAJIT, "", "its call that reads LUA_INIT was not found");
}

/* ------------------------------------------------------------------------------------------------------- as a library */

/* This is LUA_REGISTRYINDEX of Lua 5.1, in lua.h. */
#define REGISTRY (-10000)
#define CALLERS_MAX 64

static struct {
	void (*openlibs)(void *state);
	int (*cpcall)(void *state, int (*function)(void *), void *argument);
	int (*loadbuffer)(void *state, const char *text, size_t bytes, const char *name);
	void (*call)(void *state, int arguments, int results);
	void (*pushcclosure)(void *state, int (*function)(void *), int upvalues);
	double (*tonumber)(void *state, int at);
	const char *(*tolstring)(void *state, int at, size_t *bytes);
	int (*gettop)(void *state);
	void (*settop)(void *state, int top);
	void (*pushlightuserdata)(void *state, void *p);
	void (*pushboolean)(void *state, int b);
	int (*toboolean)(void *state, int at);
	void (*rawget)(void *state, int table);
	void (*rawset)(void *state, int table);
} lua;
static struct object library;

/* These objects call luaL_openlibs through a slot that is not relocated yet, because objects are seen when they are mapped. */
static struct caller {
	struct object object; /* its name may have been freed */
	void **slot;
	bool one_lua; /* no other object defines luaL_openlibs */
} callers[CALLERS_MAX];
static int nr_callers, callers_taken;

/* The script calls this. The calls of Lua in it raise no error, because the script passes all arguments. */
static int register_trace_from_lua(void *state)
{
	const char *name = lua.tolstring(state, 4, NULL), *file = lua.tolstring(state, 5, NULL);

	if (name && file)
		register_trace((int)lua.tonumber(state, 1), (uintptr_t)lua.tonumber(state, 2), (size_t)lua.tonumber(state, 3), name, file,
			       (int)lua.tonumber(state, 6), (uintptr_t)state);
	return 0;
}

/* Runs the script in a state, once for each global state. lua_cpcall() calls this, and catches errors. */
static int attach_script_to_state(void *state)
{
	lua.pushlightuserdata(state, &lua);
	lua.rawget(state, REGISTRY);
	if (lua.toboolean(state, -1))
		return 0;
	lua.pushlightuserdata(state, &lua);
	lua.pushboolean(state, 1);
	lua.rawset(state, REGISTRY);
	if (lua.loadbuffer(state, script, strlen(script), "=tailor") == 0) {
		lua.pushcclosure(state, register_trace_from_lua, 0);
		lua.call(state, 1, 0);
	}
	return 0;
}

/* The host calls this instead of luaL_openlibs(), so Lua may be called. */
static void on_lua_openlibs(void *state)
{
	int top;

	lua.openlibs(state);
	if (!guest_is_on())
		return;
	top = lua.gettop(state);
	if (lua.cpcall(state, attach_script_to_state, NULL) == 0)
		ANNOUNCE_ONCE("LuaJIT: traces registered through jit.attach, by a script that runs behind luaL_openlibs");
	lua.settop(state, top);
}

static bool is_luajit_library(const struct object *o)
{
	return o->bias == library.bias && o->headers == library.headers;
}

struct definers {
	int nr;
	bool has_library;
};

static int count_openlibs_definer(void *context, const struct object *o)
{
	struct definers *d = context;

	if (object_find_symbol(o, "luaL_openlibs")) {
		d->nr++;
		d->has_library |= is_luajit_library(o);
	}
	return 0;
}

/* Hooks the slot if it leads to LuaJIT's luaL_openlibs. Returns true if the slot needs no other attempt. A slot that is bound at its first
 * call leads into its own object until then. */
static bool try_hook_caller_slot(const struct caller *c)
{
	void *to = (void *)on_lua_openlibs, *now;

	if (!sys_readable_range(c->slot, sizeof(now)))
		return true;
	memcpy(&now, c->slot, sizeof(now));
	if (now == (void *)lua.openlibs || (c->one_lua && object_contains(&c->object, now, 1)))
		patch_write_memory(c->slot, &to, sizeof(to));
	return (uintptr_t)now >= c->object.bias; /* otherwise it is not relocated yet */
}

static void hook_caller_or_wait(const struct object *o)
{
	struct caller c = { *o, object_find_slot(o, "luaL_openlibs"), false };
	struct definers d = { 0, false };

	if (!c.slot)
		return;
	objects_each(count_openlibs_definer, &d);
	c.one_lua = d.nr == 1;
	if (!d.has_library || try_hook_caller_slot(&c)) /* the library may have been unloaded */
		return;
	while (__atomic_exchange_n(&callers_taken, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	if (nr_callers < CALLERS_MAX)
		callers[nr_callers++] = c;
	__atomic_store_n(&callers_taken, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&hosts_waiting, 1, __ATOMIC_RELEASE);
}

static int hook_each_caller(void *context, const struct object *o)
{
	(void)context;
	hook_caller_or_wait(o);
	return 0;
}

void luajit_retry_callers(void)
{
	if (__atomic_exchange_n(&callers_taken, 1, __ATOMIC_ACQUIRE))
		return;
	for (int i = nr_callers - 1; i >= 0; i--)
		if (try_hook_caller_slot(&callers[i]))
			callers[i] = callers[--nr_callers];
	if (!nr_callers)
		__atomic_store_n(&hosts_waiting, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&callers_taken, 0, __ATOMIC_RELEASE);
}

static bool find_lua_functions(const struct object *o)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
		{ "luaL_openlibs", offsetof(__typeof__(lua), openlibs) },
		{ "lua_cpcall", offsetof(__typeof__(lua), cpcall) },
		{ "luaL_loadbuffer", offsetof(__typeof__(lua), loadbuffer) },
		{ "lua_call", offsetof(__typeof__(lua), call) },
		{ "lua_pushcclosure", offsetof(__typeof__(lua), pushcclosure) },
		{ "lua_tonumber", offsetof(__typeof__(lua), tonumber) },
		{ "lua_tolstring", offsetof(__typeof__(lua), tolstring) },
		{ "lua_gettop", offsetof(__typeof__(lua), gettop) },
		{ "lua_settop", offsetof(__typeof__(lua), settop) },
		{ "lua_pushlightuserdata", offsetof(__typeof__(lua), pushlightuserdata) },
		{ "lua_pushboolean", offsetof(__typeof__(lua), pushboolean) },
		{ "lua_toboolean", offsetof(__typeof__(lua), toboolean) },
		{ "lua_rawget", offsetof(__typeof__(lua), rawget) },
		{ "lua_rawset", offsetof(__typeof__(lua), rawset) },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *f = object_find_symbol(o, wanted[i].name);

		if (!f)
			return false;
		memcpy((char *)&lua + wanted[i].at, &f, sizeof(f));
	}
	return true;
}

static void hook_luajit_library(const struct object *o)
{
	library = (struct object){ 0, NULL, 0, NULL };
	if (!find_lua_functions(o)) {
		announce_lack(HOST_LUAJIT, "", "its library lacks a function of Lua 5.1");
		return;
	}
	if (!script && !allocate_script())
		return;
	snprintf(script, SCRIPT_BYTES, "%s%s", library_text, script_text);
	library = *o;
	objects_each(hook_each_caller, NULL);
}

static int is_library_loaded(void *context, const struct object *o)
{
	(void)context;
	return is_luajit_library(o);
}

/* The command contains LuaJIT (Debian).  Other programs, and libraries that they load, call the library, which may be unloaded with them,
 * and loaded again. */
void luajit_hook_object(const struct object *o)
{
	bool is_luajit = (!script || library.headers) && object_find_symbol(o, "luaJIT_setmode");

	if (is_luajit && !library.headers)
		(*o->name ? hook_luajit_library : hook_luajit_command)(o);
	else if (is_luajit && (is_luajit_library(o) || !objects_each(is_library_loaded, NULL)))
		hook_luajit_library(o);
	else if (library.headers)
		hook_caller_or_wait(o);
}
