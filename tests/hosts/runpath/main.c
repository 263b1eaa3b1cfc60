/* SPDX-License-Identifier: MIT */
/* liba.so finds libbeside.so through its own RUNPATH, by dlopen: the loader must see that liba.so is the caller. */
#include <stdio.h>

int load_beside(void);

int main(void)
{
	printf("%d\n", load_beside());
	return 11;
}
