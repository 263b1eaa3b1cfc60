/* SPDX-License-Identifier: MIT */
/*
 * JavaScriptCore reads its options by a walk over the environment. So the option to write a jitdump file is put there, unless the user has
 * set an option. It is removed when executable memory is mapped next, because JavaScriptCore does that after it has read the options. The
 * file is removed as soon as it is mapped, and the recorder reads on through the host's descriptor.
 */
#include "shim/hosts/hosts.h"

#include "agent/guest/environ.h"
#include "agent/guest/sys.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/tmp"

static char use[] = "JSC_useJITDump=1", folder[] = "JSC_jitDumpDirectory=" FOLDER;
static int is_set, is_in_environment;

static int has_user_options(void)
{
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "JSC_", 4) == 0)
			return 1;
	return 0;
}

void javascriptcore_hook_object(const struct object *o)
{
	if (is_set || !strstr(o->name, "libjavascriptcore") || !object_find_symbol(o, "JSGlobalContextCreate") || has_user_options())
		return;
	if (environ_add_entry(use) || environ_add_entry(folder))
		return;
	__atomic_store_n(&is_in_environment, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&is_set, 1, __ATOMIC_RELEASE);
	ANNOUNCE_ONCE("JavaScriptCore: JSC_useJITDump set until it was read; its jitdump file is removed");
}

void javascriptcore_note_mapping(int fd)
{
	char link[64], path[256], own[64];
	long n;

	if (!__atomic_load_n(&is_set, __ATOMIC_ACQUIRE))
		return;
	if (__atomic_exchange_n(&is_in_environment, 0, __ATOMIC_ACQ_REL)) {
		environ_remove_entry(use);
		environ_remove_entry(folder);
	}
	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = sys_call(SYS_readlink, (long)link, (long)path, sizeof(path) - 1, 0, 0, 0);
	path[n > 0 ? n : 0] = 0;
	snprintf(own, sizeof(own), FOLDER "/jit-%u.dump", sys_getpid());
	if (strcmp(path, own) == 0)
		sys_call(SYS_unlink, (long)path, 0, 0, 0, 0, 0);
}
