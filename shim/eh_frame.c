/* SPDX-License-Identifier: MIT */
/*
 * __register_frame: a JIT hands its .eh_frame, relocated, to the C++ runtime.  The bytes go to the recorder, so that stacks
 * through its code can be unwound later.  __deregister_frame is not passed on: the code may go on running.
 */
#include "shim.h"

#include "jitreg.h"

#include <string.h>

#define FRAMES_BYTES_MAX (64u << 20)

typedef void (*frame_function)(void *);

static frame_function next_of(const char *name, frame_function *cache)
{
	frame_function f = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	/* looked up in every loaded object, also in those that were loaded RTLD_LOCAL (Numba's libgcc_s) */
	if (!f) {
		f = (frame_function)objects_find_next(name);
		__atomic_store_n(cache, f, __ATOMIC_RELEASE);
	}
	return f;
}

/* Records of a section up to its zero terminator, which is included; 0 when it makes no sense. */
static uint32_t frames_bytes(const unsigned char *at)
{
	uint32_t bytes = 0, length;

	for (;;) {
		memcpy(&length, at + bytes, 4);
		if (length == 0)
			return bytes ? bytes + 4 : 0;
		if (length == 0xffffffff || length % 4 != 0 || length > FRAMES_BYTES_MAX - bytes - 8)
			return 0;
		bytes += 4 + length;
	}
}

API void __register_frame(void *begin);
API void __register_frame(void *begin)
{
	static frame_function real;
	frame_function next = next_of("__register_frame", &real);

	if (guard_enter()) {
		uint32_t bytes = begin ? frames_bytes(begin) : 0;

		images_look();
		if (bytes)
			jitreg_eh_frame((uint64_t)(uintptr_t)begin, begin, bytes);
		guard_leave();
	}
	if (next)
		next(begin);
}

API void __deregister_frame(void *begin);
API void __deregister_frame(void *begin)
{
	static frame_function real;
	frame_function next = next_of("__deregister_frame", &real);

	if (next)
		next(begin);
}
