/* SPDX-License-Identifier: MIT */
/*
 * __register_frame: a JIT hands its .eh_frame, relocated, to the C++ runtime.  The bytes go to the recorder, so that stacks
 * through its code can be unwound later.  __deregister_frame is not passed on: the code may go on running.
 *
 * libgcc is given a list that ends with a zero length, and looks at it only when something is thrown; LLVM's libunwind is
 * given one FDE at a time.  So nothing is read that was not seen to be readable, and a list without an end is cut.
 */
#include "shim/shim.h"

#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"

#include <string.h>

#define FRAMES_BYTES_MAX (64u << 20)
#define CIE_DISTANCE_MAX (1u << 20)

typedef void (*frame_function)(void *);

/* Where records were found, and how far. */
struct frames {
	const unsigned char *start;
	uint32_t bytes;
};

/* One record at *at, whole and readable?  *length: what follows the length itself; 0 for the terminator. */
static bool read_entry_length(const unsigned char *at, uint32_t *length)
{
	if (!sys_readable_range(at, 4))
		return false;
	memcpy(length, at, 4);
	if (*length == 0)
		return true;
	return *length % 4 == 0 && *length >= 4 && *length < FRAMES_BYTES_MAX && sys_readable_range(at + 4, *length);
}

/* The list of CIEs and FDEs at begin, with its terminator where it has one; bytes 0 when it makes no sense. */
static struct frames measure_frame_list(const unsigned char *begin)
{
	struct frames f = { begin, 0 };
	uint32_t length;

	while (read_entry_length(begin + f.bytes, &length) && length + 4 <= FRAMES_BYTES_MAX - f.bytes) {
		f.bytes += 4 + length;
		if (length == 0)
			return f.bytes > 4 ? f : (struct frames){ begin, 0 };
	}
	return f;
}

/* An FDE alone, given as such: from its CIE, which lies before it, to its end. */
static struct frames find_single_fde(const unsigned char *fde, uint32_t length, uint32_t to_cie)
{
	struct frames none = { fde, 0 }, f = none;
	uint32_t cie_length, id;

	if (to_cie > CIE_DISTANCE_MAX || to_cie < 8)
		return none;
	f.start = fde + 4 - to_cie;
	if (!read_entry_length(f.start, &cie_length) || cie_length < 8)
		return none;
	memcpy(&id, f.start + 4, 4);
	if (id != 0 || !sys_readable_range(f.start, to_cie))
		return none;
	f.bytes = to_cie + length;
	return f;
}

static struct frames find_registered_frames(const unsigned char *begin)
{
	uint32_t length, id;

	if (!begin || !read_entry_length(begin, &length) || length == 0)
		return (struct frames){ begin, 0 };
	memcpy(&id, begin + 4, 4); /* a CIE has 0 there, an FDE the distance back to its CIE */
	return id == 0 ? measure_frame_list(begin) : find_single_fde(begin, length, id);
}

/* Looked up each time, in every loaded object: Numba's libgcc_s is there RTLD_LOCAL, and may be unloaded again. */
static void call_next_function(const char *name, void *begin)
{
	frame_function next = (frame_function)objects_find_next_symbol(name);

	if (next)
		next(begin);
}

API void __register_frame(void *begin);
API void __register_frame(void *begin)
{
	if (guard_enter()) {
		struct frames f = find_registered_frames(begin);

		images_register_changes();
		if (f.bytes)
			jitreg_eh_frame((uint64_t)(uintptr_t)f.start, f.start, f.bytes);
		guard_leave();
	}
	call_next_function("__register_frame", begin);
}

API void __deregister_frame(void *begin);
API void __deregister_frame(void *begin)
{
	call_next_function("__deregister_frame", begin);
}
