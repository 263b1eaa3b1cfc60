// SPDX-License-Identifier: MIT
/*
 * Programs that use LuaJIT as a library: luajit_embedded SCRIPT SECONDS ROUNDS_FILE.  Three states, one after another, each of which runs
 * the script for a third of the time.  Built with -DPLUGIN=FILE it loads that library, which is the same without main(), twice.
 */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define STATES 3

#ifndef PLUGIN
int run(int argc, char **argv);
int run(int argc, char **argv)
{
	for (int nr = 0; nr < STATES && argc == 4; nr++) {
		lua_State *l = luaL_newstate();

		luaL_openlibs(l);
		luaL_openlibs(l); /* again: hosts do */
		lua_newtable(l);
		lua_pushnumber(l, (double)clock() / CLOCKS_PER_SEC + atof(argv[2]) / STATES); /* of the process's time */
		lua_rawseti(l, -2, 1);
		lua_pushstring(l, argv[3]);
		lua_rawseti(l, -2, 2);
		lua_setglobal(l, "arg");
		lua_pushcfunction(l, luaopen_ffi); /* again: what was made by it is invalid now */
		lua_call(l, 0, 0);
		if (lua_gettop(l) || luaL_dofile(l, argv[1])) {
			fprintf(stderr, "%s\n", lua_tostring(l, -1));
			return 1;
		}
		lua_close(l);
	}
	return 0;
}
#endif

#ifndef LIBRARY
int main(int argc, char **argv)
{
#ifdef PLUGIN
	for (int nr = 0; nr < 2; nr++) { /* with LuaJIT, which is somewhere else then */
		void *plugin = dlopen(PLUGIN, BINDING);
		int (*run)(int, char **) = plugin ? (int (*)(int, char **))dlsym(plugin, "run") : NULL;

		if (!run || run(argc, argv)) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		dlclose(plugin);
		if (mmap(NULL, 2000000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return 1;
	}
	return 0;
#else
	return run(argc, argv);
#endif
}
#endif
