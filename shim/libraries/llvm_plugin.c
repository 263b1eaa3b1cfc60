/* SPDX-License-Identifier: MIT */
/*
 * Adapts LLVM 17's LLJIT with JITLink, its default.  LLVM 17 has the plugin that registers objects for debuggers, but no function that adds
 * it to an LLJIT.  C++ programs add it by inline code of LLVM's headers, which is a push_back to the layer's vector of plugins.  That
 * vector is recognised by its content, because LLJIT itself has added the plugin for unwind information, whose table of virtual functions
 * is exported.  A layer in which no such vector is found is left alone.  The signatures are those that the mangled names spell.
 */
#include "shim/libraries/llvm_plugin.h"

#include "agent/guest/sys.h"

#include <string.h>

#define REGISTRAR "_ZN4llvm3orc27createJITLoaderGDBRegistrarERNS0_16ExecutionSessionESt8optionalINS0_12ExecutorAddrEE"
#define CONSTRUCT_SHORT \
	"_ZN4llvm3orc24DebugObjectManagerPluginC1ERNS0_16ExecutionSessionE" \
	"St10unique_ptrINS0_20DebugObjectRegistrarESt14default_deleteIS5_EE"
#define CONSTRUCT CONSTRUCT_SHORT "bb"
#define TABLE_HEAD 16 /* bytes in front of the first function */
#define PLUGIN_BYTES 1024 /* more than the plugin's 208 */
#define LAYER_WORDS 64
#define PLUGINS_MAX 16

bool llvm_plugin_find_functions(const struct object *o, struct llvm_plugin *p)
{
	char *layer = object_find_symbol(o, "_ZTVN4llvm3orc18ObjectLinkingLayerE");
	char *frames = object_find_symbol(o, "_ZTVN4llvm3orc25EHFrameRegistrationPluginE");
	char *debug = object_find_symbol(o, "_ZTVN4llvm3orc24DebugObjectManagerPluginE");

	*(void **)&p->session = object_find_symbol(o, "LLVMOrcLLJITGetExecutionSession");
	*(void **)&p->layer = object_find_symbol(o, "LLVMOrcLLJITGetObjLinkingLayer");
	*(void **)&p->registrar = object_find_symbol(o, REGISTRAR);
	*(void **)&p->construct = object_find_symbol(o, CONSTRUCT);
	p->allocate = object_find_slot(o, "_Znwm");
	p->release = object_find_slot(o, "_ZdlPv");
	if (!layer || !frames || !debug || !p->session || !p->layer || !p->registrar || !p->construct || !p->allocate || !p->release)
		return false;
	p->layer_table = layer + TABLE_HEAD;
	p->frames_table = frames + TABLE_HEAD;
	p->debug_table = debug + TABLE_HEAD;
	return true;
}

bool llvm_plugin_is_added_by_user(const struct object *o)
{
	return object_find_slot(o, CONSTRUCT) || object_find_slot(o, CONSTRUCT_SHORT);
}

/* Finds the vector of plugins.  Returns NULL if there is none, or if it has a plugin for debuggers. */
static void ***find_plugin_vector(const struct llvm_plugin *p, void *layer)
{
	void ***word = layer;

	if (!layer || !sys_readable_range(layer, (LAYER_WORDS + 2) * sizeof(*word)) || *(void **)layer != p->layer_table)
		return NULL;
	for (int i = 1; i < LAYER_WORDS; i++) {
		void **begin = word[i], **end = word[i + 1], **capacity = word[i + 2];
		bool has_frames = false, has_debug = false;

		if ((uintptr_t)begin % sizeof(void *) || begin >= end || end > capacity || end - begin > PLUGINS_MAX ||
		    !sys_readable_range(begin, (size_t)(end - begin) * sizeof(*begin)))
			continue;
		for (void **plugin = begin; plugin < end; plugin++)
			if ((uintptr_t)*plugin % sizeof(void *) == 0 && sys_readable_range(*plugin, sizeof(void *))) {
				has_frames |= *(void **)*plugin == p->frames_table;
				has_debug |= *(void **)*plugin == p->debug_table;
			}
		if (has_frames)
			return has_debug ? NULL : &word[i];
	}
	return NULL;
}

bool llvm_plugin_add(const struct llvm_plugin *p, void *jit, void (*consume)(void *error))
{
	void *(*allocate)(size_t bytes);
	void (*release)(void *memory);
	void *session = p->session(jit), *plugin, **more, ***plugins = find_plugin_vector(p, p->layer(jit));
	struct llvm_expected registrar = { NULL, 1 };
	size_t nr;

	if (!plugins || !session)
		return false;
	/* A slot that is not bound yet leads to the loader, which finds the function at the call. */
	*(void **)&allocate = *p->allocate;
	*(void **)&release = *p->release;
	p->registrar(&registrar, session, 0, 0);
	if (registrar.has_error & 1) {
		consume(registrar.value);
		return false;
	}
	nr = (size_t)(plugins[1] - plugins[0]);
	plugin = allocate(PLUGIN_BYTES); /* LLVM's operator new does not return NULL */
	more = allocate((nr + 1) * sizeof(*more));
	p->construct(plugin, session, &registrar.value, 0, 1);
	memcpy(more, plugins[0], nr * sizeof(*more));
	more[nr] = plugin;
	release(plugins[0]);
	plugins[0] = more;
	plugins[1] = plugins[2] = more + nr + 1;
	return true;
}
