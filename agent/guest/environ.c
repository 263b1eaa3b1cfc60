/* SPDX-License-Identifier: MIT */
#include "agent/guest/environ.h"

#include "agent/guest/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char *values[ENVIRON_NR];
static char socket_entry[128];

static const char *read_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

void environ_read(void)
{
#define READ_(NAME, text, help) values[ENVIRON_##NAME] = read_variable(text);
	TAILOR_ENVIRONMENT(READ_)
#undef READ_
}

const char *environ_get(enum environ_variable v)
{
	return values[v];
}

/*
 * The new array is never freed, because it is the environment from then on. setenv() copies an array that is not libc's own before it adds
 * an entry. A page of zeros follows the array, so that code that looks for the auxiliary vector behind the environment finds an empty one.
 */
int environ_add_entry(char *entry)
{
	size_t key = strcspn(entry, "=") + 1, nr = 0, kept = 0;
	char **old = environ, **array;
	long p;

	while (old && old[nr])
		nr++;
	p = sys_mmap(NULL, (nr + 2) * sizeof(*array) + SYS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (p < 0 && p > -4096)
		return (int)p;
	array = (char **)p;
	for (size_t i = 0; i < nr; i++)
		if (strncmp(old[i], entry, key) != 0)
			array[kept++] = old[i];
	array[kept] = entry;
	environ = array;
	return 0;
}

void environ_remove_entry(const char *entry)
{
	char **to = environ;

	if (!to)
		return;
	for (char **from = environ; *from; from++)
		if (*from != entry)
			*to++ = *from;
	*to = NULL;
}

int environ_add_socket(const char *name)
{
	size_t key = sizeof("TAILOR_SOCKET=") - 1;

	if (strlen(name) >= sizeof(socket_entry) - key)
		return -ENAMETOOLONG;
	memcpy(socket_entry, "TAILOR_SOCKET=", key);
	strcpy(socket_entry + key, name);
	return environ_add_entry(socket_entry);
}
