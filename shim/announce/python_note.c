/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include "jitreg/hosts/jit_hosts.h"

#include <string.h>

int announce_python(enum python_note note)
{
#define KEY_(NAME, ...) #NAME,
	static const char *const keys[] = { PYTHON_NOTES(KEY_) };
#undef KEY_
	struct iovec parts[1] = { { (void *)(uintptr_t)keys[note], strlen(keys[note]) } };
	JITREG_BEGIN_(control, r);

	r.action = JIT_CONTROL_PYTHON;
	r.name_bytes = (uint32_t)parts[0].iov_len;
	return JITREG_SEND_(JITREG_CONTROL, r, parts);
}
