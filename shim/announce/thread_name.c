/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include "jitreg/hosts/jit_hosts.h"

#include <string.h>

int announce_thread_name(const char *name)
{
	struct iovec parts[1] = { { (void *)(uintptr_t)name, strlen(name) } };
	JITREG_BEGIN_(control, r);

	r.action = JIT_CONTROL_THREAD_NAME;
	r.name_bytes = (uint32_t)parts[0].iov_len;
	return JITREG_SEND_(JITREG_CONTROL, r, parts);
}
