/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include "jitreg/hosts/jit_hosts.h"

#include <string.h>

int announce_lack(enum host_version host, const char *version, const char *why)
{
#define KEY_(NAME, ...) #NAME,
	static const char *const keys[] = { HOST_VERSIONS(KEY_) };
#undef KEY_
	const char *const texts[] = { keys[host], "\n", version, "\n", why };
	struct iovec parts[sizeof(texts) / sizeof(texts[0])];
	JITREG_BEGIN_(control, r);

	r.action = JIT_CONTROL_LACK;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		parts[i] = (struct iovec){ (void *)(uintptr_t)texts[i], strnlen(texts[i], HOST_WHY_BYTES) };
		r.name_bytes += (uint32_t)parts[i].iov_len;
	}
	return JITREG_SEND_(JITREG_CONTROL, r, parts);
}
