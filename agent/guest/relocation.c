/* SPDX-License-Identifier: MIT */
/*
 * Waits for objects to be relocated.  The loader announces the objects that dlopen maps, relocates all of them, and calls their
 * constructors.  So the init function of one object that waits is replaced, and all that wait then are relocated when it is called.  An
 * object that waits may be unloaded first, if a symbol of it is missing.
 */
#include "agent/guest/guest.h"

#include <string.h>

#define WAITING_MAX 32 /* maximum number of objects that wait at the same time */

struct waiting {
	uintptr_t bias; /* 0: free; an object without a bias does not wait */
	const void *headers;
	object_hook *hook;
};
static struct waiting waiting[WAITING_MAX];
static int locked;

/* This is the object whose init function is replaced. bias is 0 if there is none. */
static struct {
	uintptr_t bias;
	object_init_function *before;
} replaced;

static bool try_lock(void)
{
	for (int i = 0; i < 1000; i++) {
		if (!__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
			return true;
		__builtin_ia32_pause();
	}
	log_count_full();
	return false;
}

static void unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

static int hook_if_relocated(void *context, const struct object *o)
{
	const struct waiting *w = context;

	for (int i = 0; i < WAITING_MAX; i++)
		if (w[i].bias && w[i].bias == o->bias && w[i].headers == o->headers && !object_awaits_relocation(o))
			w[i].hook(o);
	return 0;
}

/* Calls the hooks of the objects that were waited for.  The list is copied, because a hook may take long. */
static void hook_waiting_objects(void)
{
	struct waiting all[WAITING_MAX];

	if (!try_lock())
		return;
	memcpy(all, waiting, sizeof(all));
	memset(waiting, 0, sizeof(waiting));
	unlock();
	objects_each_in_all_namespaces(hook_if_relocated, all);
}

/* The loader calls this instead of an object's own init function. */
static void on_init(int argc, char **argv, char **env)
{
	object_init_function *before = replaced.before;

	__atomic_store_n(&replaced.bias, 0, __ATOMIC_RELEASE);
	before(argc, argv, env);
	if (guard_enter()) {
		hook_waiting_objects();
		guard_leave();
	}
}

static bool add_waiting(const struct object *o, object_hook *hook)
{
	for (int i = 0; i < WAITING_MAX; i++)
		if (!waiting[i].bias) {
			waiting[i] = (struct waiting){ o->bias, o->headers, hook };
			return true;
		}
	log_count_full();
	return false;
}

bool object_hook_when_relocated(const struct object *o, object_hook *hook)
{
	if (!object_awaits_relocation(o))
		return false;
	if (!try_lock())
		return true;
	if (add_waiting(o, hook) && !replaced.bias) {
		if (object_replace_init(o, on_init, &replaced.before))
			guest_debug("%s: adapter unavailable (the object cannot be waited for)", o->name);
		else
			__atomic_store_n(&replaced.bias, o->bias, __ATOMIC_RELEASE);
	}
	unlock();
	return true;
}

void object_forget_hook(uintptr_t bias)
{
	if (!try_lock())
		return;
	for (int i = 0; i < WAITING_MAX; i++)
		if (waiting[i].bias == bias)
			waiting[i].bias = 0;
	if (replaced.bias == bias)
		replaced.bias = 0;
	unlock();
}

void object_hooks_reset_in_child(void)
{
	unlock();
}
