/* SPDX-License-Identifier: MIT */
/*
 * calls SECONDS: a known call tree through a library without symbols: main calls everything; a sorter has qsort call back, an allocator
 * and a printer go into libc and come out nowhere; a handler interrupts; two functions call each other.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))
#define NR 20000

KEEP void leaf(long n)
{
	long x = 3;

	__asm__ volatile("1: imul %1, %1\n dec %0\n jnz 1b" : "+r"(n), "+r"(x));
}

KEEP int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

KEEP void do_sort(int *v)
{
	qsort(v, NR, sizeof(*v), compare);
	__asm__ volatile("" : : : "memory");
}

KEEP void do_allocate(void)
{
	static void *kept[500];

	for (int i = 0; i < 20000; i++) {
		int k = rand() % 500;

		free(kept[k]);
		kept[k] = malloc((size_t)(2000 + rand() % 20000));
	}
	__asm__ volatile("" : : : "memory");
}

KEEP void do_print(void)
{
	char text[200];

	for (int i = 0; i < 10000; i++)
		snprintf(text, sizeof(text), "%d %f %s", i, i * 1.5, "x");
	__asm__ volatile("" : : : "memory");
}

KEEP void odd(int depth);

KEEP void even(int depth)
{
	if (depth)
		odd(depth - 1);
	else
		leaf(1000000);
	__asm__ volatile("" : : : "memory");
}

KEEP void odd(int depth)
{
	if (depth)
		even(depth - 1);
	else
		leaf(500000);
	__asm__ volatile("" : : : "memory");
}

KEEP void in_handler(void)
{
	leaf(1500000);
	__asm__ volatile("" : : : "memory");
}

static void handler(int signal)
{
	(void)signal;
	in_handler();
	__asm__ volatile("" : : : "memory");
}

KEEP void do_raise(void)
{
	raise(SIGUSR1);
	__asm__ volatile("" : : : "memory");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	static int v[NR];

	signal(SIGUSR1, handler);
	while ((double)clock() / CLOCKS_PER_SEC < seconds) {
		for (int i = 0; i < NR; i++)
			v[i] = rand();
		do_sort(v);
		do_allocate();
		do_print();
		even(10);
		odd(9);
		do_raise();
	}
	return 0;
}
