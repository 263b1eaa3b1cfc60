/* SPDX-License-Identifier: MIT */
/* LuaJIT in a program of its own: luajit FILE.lua SECONDS ROUNDS_FILE. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <stdio.h>

int main(int argc, char **argv)
{
	lua_State *l = luaL_newstate();

	if (argc < 4)
		return 1;
	luaL_openlibs(l);
	lua_createtable(l, 2, 0);
	for (int i = 2; i < argc; i++) {
		lua_pushstring(l, argv[i]);
		lua_rawseti(l, -2, i - 1);
	}
	lua_setglobal(l, "arg");
	if (luaL_dofile(l, argv[1])) {
		fprintf(stderr, "%s\n", lua_tostring(l, -1));
		return 1;
	}
	lua_close(l);
	return 0;
}
