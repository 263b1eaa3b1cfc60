/* SPDX-License-Identifier: MIT */
/* Burns processor time in a function of its own and prints what it computed: busy [MILLIONS]. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned long burn(unsigned long n)
{
	unsigned long x = 1;

	for (; n > 0; n--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

int main(int argc, char **argv)
{
	unsigned long millions = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;

	printf("%lx\n", burn(millions * 1000000));
	return (int)(millions % 7);
}
