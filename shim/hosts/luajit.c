/* SPDX-License-Identifier: MIT */
/*
 * LuaJIT: the interpreter asks the environment for LUA_INIT, a script to run before all others.  It is answered with one that
 * attaches itself to the compiler's events (jit.attach) and calls back, through the foreign function interface, with each
 * trace's code and the line where it starts.  Neither the environment nor the host's global names change.
 */
#include "hosts.h"

#include "sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_BYTES 16384
#define LINE_BYTES 2048

static char *(*real_getenv)(const char *);
static char *script;

static const char script_text[] =
	"pcall(function()\n"
	"local ffi, util = require 'ffi', require 'jit.util'\n"
	"local say = ffi.cast('void (*)(int, uintptr_t, size_t, const char *, const char *, int)', 0x%llxull)\n"
	"local begun = {}\n"
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
	"    if code then say(nr, address, #code, name, file, b[2]) end\n"
	"  elseif what == 'abort' then begun[nr] = nil end\n"
	"end\n"
	"jit.attach(on_trace, 'trace')\n"
	"end)\n";

/* Context: a host's thread that has compiled. */
static void on_trace(int number, uintptr_t address, size_t bytes, const char *name, const char *file, int line)
{
	unsigned char buffer[LINE_BYTES];
	struct line_table t = { .buffer = buffer, .capacity = sizeof(buffer) };

	if (line > 0 && line_table_add(&t, address, (uint32_t)line, file, strlen(file)))
		line_table_send(&t, address);
	jitreg_code_load(address, bytes, (uint64_t)number, name, (const void *)address);
}

/* The user's own script runs behind ours. */
static char *with_users(const char *users)
{
	size_t bytes;
	int n = snprintf(script, SCRIPT_BYTES, script_text, (unsigned long long)(uintptr_t)on_trace);

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

static char *on_getenv(const char *name)
{
	static int answered; /* the interpreter asks first; scripts find what is there */
	char *users = real_getenv(name), *ours;

	if (strcmp(name, "LUA_INIT") != 0 || !guest_is_on() || __atomic_exchange_n(&answered, 1, __ATOMIC_RELAXED))
		return users;
	ours = with_users(users);
	if (!ours)
		return users;
	HOSTS_SAY("LuaJIT: traces are heard through jit.attach, by a script of ours in front of LUA_INIT");
	return ours;
}

static void listen_to(const struct object *program)
{
	long p = sys_mmap(NULL, SCRIPT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p < 0 && p > -4096)
		return;
	script = (char *)p;
	if (slot_replace(program, "getenv", (void *)on_getenv, &real_getenv))
		guest_debug("LuaJIT: where the interpreter reads its environment cannot be found");
}

static int is_program(void *context, const struct object *o)
{
	(void)context;
	listen_to(o);
	return 1; /* the first one */
}

/* The program is its own library (Debian), or uses one. */
void luajit_object(const struct object *o)
{
	if (script || !object_find_symbol(o, "luaJIT_setmode"))
		return;
	if (object_find_slot(o, "getenv") && !*o->name)
		listen_to(o);
	else
		objects_each(is_program, NULL);
}
