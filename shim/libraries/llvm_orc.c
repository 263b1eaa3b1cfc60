/* SPDX-License-Identifier: MIT */
/*
 * Adapts LLVM's ORC (RTDyldObjectLinkingLayer, of LLJIT and clang-repl). Unlike MCJIT it registers objects for debuggers only where the
 * program adds LLVM's listener. A layer without that listener gets the agent's before its first object, and the agent's passes calls on to
 * LLVM's. LLVM's own listener is not added, because llvm_shutdown() deletes it, and a program may use a layer that had no listener also
 * after that (clang-repl 14 does).
 *
 * The layer's emit() is called through its table of virtual functions. The entry in it is found by emit()'s own address, so no layout is
 * assumed. Whether a layer has the listener is read from the vector of listeners that the layer holds. A library that is loaded later is
 * announced before it is relocated, so its table is searched again when memory becomes executable.
 */
#include "shim/libraries/libraries.h"

#include "agent/guest/sys.h"

#define TABLE_WORDS 16
#define LAYER_WORDS 64
#define LISTENERS_MAX 64

typedef void emit_function(void *layer, void *responsibility, void *object);

/* This is llvm::JITEventListener of LLVM 12 (the first with the emit() that is looked for) and later. The destructors do nothing. */
struct listener;
struct listener_functions {
	void (*destroy)(struct listener *l);
	void (*delete)(struct listener *l);
	void (*loaded)(struct listener *l, uint64_t key, const void *object, const void *info);
	void (*freeing)(struct listener *l, uint64_t key);
};
struct listener {
	const struct listener_functions *functions;
};

static emit_function *real_emit;
static struct listener *(*get_listener)(void); /* returns LLVM's listener, a new one after llvm_shutdown() */
static void (*add_listener)(void *layer, struct listener *l);
static void **table; /* the table whose entry is still to be replaced */
static bool unknown_layout;

static void do_nothing(struct listener *l)
{
	(void)l;
}

static void on_object_loaded(struct listener *l, uint64_t key, const void *object, const void *info)
{
	(void)l;
	l = get_listener();
	l->functions->loaded(l, key, object, info);
}

static void on_object_freeing(struct listener *l, uint64_t key)
{
	(void)l;
	l = get_listener();
	l->functions->freeing(l, key);
}

static const struct listener_functions functions = { do_nothing, do_nothing, on_object_loaded, on_object_freeing };
static struct listener ours = { &functions };

static bool layer_has_listener(void *layer, const struct listener *theirs)
{
	void ***word = layer;

	if (!sys_readable_range(layer, (LAYER_WORDS + 2) * sizeof(*word)))
		return true; /* unreadable, so no listener is added */
	for (int i = 0; i < LAYER_WORDS; i++) {
		void **begin = word[i], **end = word[i + 1], **capacity = word[i + 2];

		if ((uintptr_t)begin % sizeof(void *) || begin >= end || end > capacity || end - begin > LISTENERS_MAX ||
		    !sys_readable_range(begin, (size_t)(end - begin) * sizeof(*begin)))
			continue;
		for (; begin < end; begin++)
			if (*begin == theirs || *begin == &ours)
				return true;
	}
	return false;
}

static void on_layer_emit(void *layer, void *responsibility, void *object)
{
	struct listener *theirs;

	if (guest_is_on() && !__atomic_load_n(&unknown_layout, __ATOMIC_RELAXED)) {
		theirs = get_listener();
		if (!layer_has_listener(layer, theirs)) {
			add_listener(layer, &ours);
			if (layer_has_listener(layer, theirs))
				ANNOUNCE_ONCE("LLVM: ORC's objects are registered through the GDB JIT interface");
			else
				__atomic_store_n(&unknown_layout, true, __ATOMIC_RELAXED);
		}
	}
	real_emit(layer, responsibility, object);
}

static void hook_layer_emit(void)
{
	void *to = (void *)on_layer_emit;

	for (int i = 0; i < TABLE_WORDS; i++)
		if (table[i] == (void *)real_emit) {
			if (patch_write_memory(&table[i], &to, sizeof(to)))
				guest_debug("LLVM: adapter unavailable (its table of functions cannot be written)");
			table = NULL;
			return;
		}
}

void llvm_orc_retry_hook(void)
{
	if (__builtin_expect(table != NULL, 0))
		hook_layer_emit();
}

void llvm_orc_hook_object(const struct object *o)
{
	if (real_emit || !object_find_symbol(o, "_ZTVN4llvm3orc24RTDyldObjectLinkingLayerE"))
		return;
	table = object_find_symbol(o, "_ZTVN4llvm3orc24RTDyldObjectLinkingLayerE");
	*(void **)&real_emit = object_find_symbol(o, "_ZN4llvm3orc24RTDyldObjectLinkingLayer4emitESt10unique_ptrINS0_29Materialization"
						     "ResponsibilityESt14default_deleteIS3_EES2_INS_12MemoryBufferES4_IS7_EE");
	*(void **)&get_listener = object_find_symbol(o, "_ZN4llvm16JITEventListener29createGDBRegistrationListenerEv");
	*(void **)&add_listener = object_find_symbol(o, "_ZN4llvm3orc24RTDyldObjectLinkingLayer24registerJITEventListenerERNS_16JITEvent"
							"ListenerE");
	if (real_emit && get_listener && add_listener && object_contains(o, table, TABLE_WORDS * sizeof(*table)))
		hook_layer_emit();
	else
		table = NULL;
}
