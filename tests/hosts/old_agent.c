/* SPDX-License-Identifier: MIT */
/* An agent as it was before 1.0, to be preloaded: no jitreg_connect().  At the end it prints how many records came of each id. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#define API __attribute__((visibility("default")))

API uint32_t jitreg_recorders = 1;
static unsigned nr[128];

API int jitreg_emit(const struct iovec *parts, int nr_parts);
API int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	uint32_t id = 127;

	if (nr_parts > 0)
		memcpy(&id, parts[0].iov_base, sizeof(id));
	nr[id < 127 ? id : 127]++;
	return 0;
}

__attribute__((destructor)) static void end(void)
{
	for (int i = 0; i < 128; i++)
		if (nr[i])
			printf("%d:%u ", i, nr[i]);
	printf("\n");
}
