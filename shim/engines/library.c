/* SPDX-License-Identifier: MIT */
#include "shim/engines/library.h"

#include "jitreg/jitreg.h"

#include <stdio.h>
#include <string.h>

/* Finds the slot of the first of the hook's names that the library has and calls through a relocated slot, and sets the real function.
 * Returns NULL if there is none, and *missing is the name that is reported then. */
static void **find_hook_slot(const struct object *o, const struct library_hook *h, const char **missing)
{
	for (size_t k = 0; k < LIBRARY_NAMES_MAX && h->name[k]; k++) {
		void **slot = object_find_slot(o, h->name[k]);

		*(void **)h->real = object_find_symbol(o, h->name[k]);
		if (*h->real && slot && object_is_relocated(o, slot))
			return slot;
	}
	*missing = h->name[0];
	return NULL;
}

/* Returns NULL, or the name of what is missing. */
static const char *install_library_hooks(const struct library *l)
{
	const struct object *o = l->object;
	void **slot[LIBRARY_HOOKS_MAX];
	const char *missing;

	for (size_t i = 0; i < LIBRARY_HOOKS_MAX && l->hook[i].to; i++) {
		slot[i] = find_hook_slot(o, &l->hook[i], &missing);
		if (!slot[i] && !l->hook[i].is_optional)
			return missing;
	}
	missing = l->find(o);
	if (missing)
		return missing;
	for (size_t i = 0; i < LIBRARY_HOOKS_MAX && l->hook[i].to; i++) {
		void *to = (void *)l->hook[i].to;

		if (slot[i] && patch_write_memory(slot[i], &to, sizeof(to)))
			return "memory that can be written";
	}
	return NULL;
}

/* Is the object the library's own file, or may the file have any name? Otherwise it is a program that contains the library and exports it
 * with all else, as Node does with SQLite. */
static bool is_its_own_file(const struct library *l)
{
	const char *slash = strrchr(l->object->name, '/');

	return !l->own_name || strstr(slash ? slash : l->object->name, l->own_name);
}

static void adapt_library(const struct library *l)
{
	const char *(*version)(void), *missing = install_library_hooks(l);
	char text[256];

	*(void **)&version = object_find_symbol(l->object, l->version);
	if (missing && !is_its_own_file(l)) {
		guest_debug("%s: adapter unavailable (it lacks %s)", l->title, missing);
	} else if (missing) {
		snprintf(text, sizeof(text), HOST_LACKS_SYMBOL, HOST_LACKS_SYMBOL_ARGUMENTS(missing));
		announce_lack(l->host, version(), text);
	} else {
		snprintf(text, sizeof(text), "%s %s: %s", l->title, version(), l->with);
		jitreg_control(JITREG_CONTROL_NOTE, text);
	}
}

void library_hook_object(const struct library *l, const struct object *o, const char *function, object_hook *hook)
{
	if (l->object->headers || !object_find_symbol(o, function) || !object_find_symbol(o, l->version) ||
	    object_hook_when_relocated(o, hook))
		return;
	*l->object = *o;
	adapt_library(l);
}
