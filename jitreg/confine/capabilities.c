/* SPDX-License-Identifier: MIT */
#include "jitreg/confine/internal.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITIES_MAX 64

void capabilities_keep(uint64_t mask)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &h, data))
		return;
	for (int i = 0; i < CAPABILITIES_MAX; i++) /* this comes first, since dropping from the bounding set needs CAP_SETPCAP */
		if (!(mask >> i & 1) && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		const uint32_t kept = (uint32_t)(mask >> 32 * i);

		data[i].permitted &= kept;
		data[i].effective &= kept;
		data[i].inheritable &= kept;
	}
	syscall(SYS_capset, &h, data);
}
