/* SPDX-License-Identifier: MIT */
#include "shim/engines/library.h"

#include "jitreg/jitreg.h"

#include <stdio.h>

/* NULL, or what is missing. */
static const char *install_library_hooks(const struct library *l)
{
	const struct object *o = l->object;
	void **slot[LIBRARY_HOOKS_MAX];
	const char *missing;

	for (size_t i = 0; i < LIBRARY_HOOKS_MAX && l->hook[i].name; i++) {
		*(void **)l->hook[i].real = object_find_symbol(o, l->hook[i].name);
		slot[i] = object_find_slot(o, l->hook[i].name);
		if (!*l->hook[i].real || !slot[i] || !object_is_relocated(o, slot[i]))
			return l->hook[i].name;
	}
	missing = l->find(o);
	if (missing)
		return missing;
	for (size_t i = 0; i < LIBRARY_HOOKS_MAX && l->hook[i].name; i++) {
		void *to = (void *)l->hook[i].to;

		if (patch_write_memory(slot[i], &to, sizeof(to)))
			return "memory that can be written";
	}
	return NULL;
}

static void adapt_library(const struct library *l)
{
	const char *(*version)(void), *missing = install_library_hooks(l);
	char sentence[256];

	*(void **)&version = object_find_symbol(l->object, l->version);
	if (missing)
		snprintf(sentence, sizeof(sentence), "%s %s: %s unavailable (its library lacks %.150s)", l->title, version(), l->without,
			 missing);
	else
		snprintf(sentence, sizeof(sentence), "%s %s: %s", l->title, version(), l->with);
	jitreg_control(JITREG_CONTROL_NOTE, sentence);
}

void library_init(struct library *l, int argc, char **argv, char **env)
{
	l->init_before(argc, argv, env);
	if (guard_enter()) {
		adapt_library(l);
		guard_leave();
	}
}

void library_hook_object(struct library *l, const struct object *o, const char *function)
{
	void **slot;

	if (l->object->headers || !object_find_symbol(o, function) || !object_find_symbol(o, l->version))
		return;
	slot = object_find_slot(o, l->hook[0].name);
	*l->object = *o;
	if (!slot || object_is_relocated(o, slot) || object_replace_init(o, l->init, &l->init_before))
		adapt_library(l);
}
