/* SPDX-License-Identifier: MIT */
/*
 * Adapts PHP with opcache's JIT.  It registers code with debuggers, with lines and frames, if opcache.jit_debug has 0x100.  The command's
 * own settings (-d, and those that it always sets) are one text in its sapi_module.  PHP reads from the environment where its configuration
 * is, just before it reads these settings.  Then the setting is put in front of the text, so that the user's settings come later and have
 * precedence.
 *
 * The text is found by the setting that the command line interface always writes at its beginning, so that no layout is assumed.  Other
 * servers (FPM, Apache) have no such text, and are left alone.
 */
#include "shim/hosts/hosts.h"

#include "agent/guest/sys.h"

#include <string.h>

#define SAPI_BYTES 512 /* bytes of sapi_module that are searched */
#define TEXT_BYTES 65536
static const char always[] = "html_errors=0";
static const char ours[] = "opcache.jit_debug=256\n";

static char *(*real_getenv)(const char *);
static char **sapi_module;
static char *text;

/* Is this PHP's command? The first member of sapi_module is the name of the server interface. */
static bool is_command(void)
{
	static const char cli[] = "cli";

	return sys_readable_range(sapi_module[0], sizeof(cli)) && memcmp(sapi_module[0], cli, sizeof(cli)) == 0;
}

static void add_jit_debug_setting(void)
{
	for (size_t i = 0; i < SAPI_BYTES / sizeof(char *); i++) {
		char *theirs = sapi_module[i];
		size_t bytes;

		if (!theirs || !sys_readable_range(theirs, sizeof(always)) || memcmp(theirs, always, sizeof(always) - 1) != 0)
			continue;
		bytes = strlen(theirs) + 1;
		if (bytes + sizeof(ours) > TEXT_BYTES)
			return;
		memcpy(text, ours, sizeof(ours) - 1);
		memcpy(text + sizeof(ours) - 1, theirs, bytes);
		sapi_module[i] = text; /* the command frees the old text through a pointer of its own */
		ANNOUNCE_ONCE("PHP: opcache.jit_debug=0x100 set; code registered through the GDB JIT interface");
		return;
	}
	if (is_command())
		announce_lack(HOST_PHP, "", "its settings are in no text that is known");
}

static char *on_ini_dir_getenv(const char *name)
{
	static int added;

	if (strcmp(name, "PHP_INI_SCAN_DIR") == 0 && guest_is_on() && !__atomic_exchange_n(&added, 1, __ATOMIC_RELAXED))
		add_jit_debug_setting();
	return real_getenv(name);
}

void php_hook_object(const struct object *o)
{
	long p;

	if (sapi_module || !object_find_symbol(o, "php_module_startup") || object_hook_when_relocated(o, php_hook_object))
		return;
	sapi_module = object_find_symbol(o, "sapi_module");
	if (!sapi_module || !object_contains(o, sapi_module, SAPI_BYTES))
		return;
	p = sys_mmap(NULL, TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (p < 0 && p > -4096)
		return;
	text = (char *)p;
	if (slot_replace(o, "getenv", (void *)on_ini_dir_getenv, &real_getenv))
		announce_lack(HOST_PHP, "", "its call that reads the environment was not found");
}
