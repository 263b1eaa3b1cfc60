/* SPDX-License-Identifier: MIT */
#include "jitreg/confine/internal.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <stdio.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BIT(name) (1ull << CAP_##name)
/* Root keeps these capabilities, because the command line may name files and folders of other users.  CHOWN and FOWNER are for SQLite,
 * which gives a journal the owner of its store. */
#define KEEP_READER (BIT(DAC_READ_SEARCH) | BIT(DAC_OVERRIDE) | BIT(CHOWN) | BIT(FOWNER) | BIT(SYS_NICE))
#define KEEP_IMPORTER (KEEP_READER | BIT(SYSLOG)) /* without SYSLOG, /proc/kallsyms has no addresses */
#define KEEP_CHANGER (BIT(DAC_READ_SEARCH) | BIT(DAC_OVERRIDE) | BIT(CHOWN) | BIT(FOWNER))
#define KEEP_RECORDER \
	(BIT(PERFMON) | BIT(SYS_PTRACE) | BIT(KILL) | BIT(IPC_LOCK) | BIT(SYS_NICE) | BIT(SYS_RESOURCE) | \
	 BIT(SYSLOG) | BIT(CHECKPOINT_RESTORE))

#define CONFINE_ROW_(NAME, landlock, permissions, capabilities, text) { landlock, permissions, KEEP_##capabilities },
static const struct {
	bool landlock;
	unsigned permissions;
	uint64_t capabilities;
} policies[] = { CONFINE_POLICIES(CONFINE_ROW_) };

/* Returns the capabilities to keep: mask, and SYS_ADMIN if mask has PERFMON and the kernel is older than 5.8, where perf events need it. */
static uint64_t capabilities_of_kernel(uint64_t mask)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (mask & BIT(PERFMON) && uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	    (major < 5 || (major == 5 && minor < 8)))
		mask |= BIT(SYS_ADMIN);
	return mask;
}

void confine_begin(enum confine_policy policy)
{
	if (confine_is_off())
		return;
	capabilities_keep(capabilities_of_kernel(policies[policy].capabilities));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return;
	if (policies[policy].landlock)
		landlock_restrict();
	syscall_filter_load(policies[policy].permissions, policies[policy].landlock);
}

struct confine_state confine_state(void)
{
	return (struct confine_state){ .landlock_abi = landlock_find_abi(), .filters = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 };
}
