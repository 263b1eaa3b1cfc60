/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>

int load_beside(void);
int load_beside(void)
{
	void *h = dlopen("libbeside.so", RTLD_NOW);
	int (*answer)(void) = h ? (int (*)(void))dlsym(h, "answer") : 0;

	return answer ? answer() : -1;
}
