/* SPDX-License-Identifier: MIT */
/*
 * __register_frame passes a JIT's relocated .eh_frame to the C++ runtime.  The hook sends these bytes to the recorder, so that stacks
 * through the JIT's code can be unwound later.  __deregister_frame is not sent, because the code may go on running.
 *
 * libgcc expects a list that ends with a zero length, and before GCC 13 reads it only when an exception is thrown. LLVM's libunwind expects
 * one FDE per call. So all memory is checked before it is read, and a list without an end is cut.
 */
#include "shim/shim.h"

#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"

#include <string.h>

#define FRAMES_BYTES_MAX (64u << 20)
#define CIE_DISTANCE_MAX (1u << 20)

typedef void (*frame_function)(void *);

/* This is the range of the records that were found. */
struct frames {
	const unsigned char *start;
	uint32_t bytes;
};

/* Is there one whole, readable record at `at`?  *length is the number of bytes behind the length field, and 0 for the terminator. */
static bool read_entry_length(const unsigned char *at, uint32_t *length)
{
	if (!sys_readable_range(at, 4))
		return false;
	memcpy(length, at, 4);
	if (*length == 0)
		return true;
	return *length % 4 == 0 && *length >= 4 && *length < FRAMES_BYTES_MAX && sys_readable_range(at + 4, *length);
}

/* Finds the range of a list of CIEs and FDEs, with its terminator if it has one.  bytes is 0 if the first record is invalid, or the list is
 * empty. */
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

/* Finds the range of a single FDE, from its CIE, which lies before it, to the end of the FDE. bytes is 0 if the CIE is invalid or too far
 * away, or if the memory between the two cannot be read. */
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
	memcpy(&id, begin + 4, 4); /* id is 0 in a CIE, and in an FDE the distance from this field back to its CIE */
	return id == 0 ? measure_frame_list(begin) : find_single_fde(begin, length, id);
}

/* The function is looked up at each call, in all objects behind the agent, because Numba's libgcc_s is loaded RTLD_LOCAL and may be
 * unloaded again. */
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
