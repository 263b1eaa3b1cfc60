/* SPDX-License-Identifier: MIT */
/* Exports pthread_create and dlopen of its own, as sanitizers do, and forwards them to the next ones; as a library (LIBRARY),
 * it does the same for the program that it is preloaded into. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(t, a, f, p);
}

void *dlopen(const char *name, int flags)
{
	void *(*next)(const char *, int);

	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return next(name, flags);
}

#ifndef LIBRARY
static void *run(void *p)
{
	return p;
}

int main(void)
{
	pthread_t t;
	void *r;

	if (pthread_create(&t, NULL, run, (void *)5) || pthread_join(t, &r))
		return 1;
	printf("%p, %s\n", r, dlopen("libz.so.1", RTLD_NOW) ? "loaded" : "not loaded");
	return 3;
}
#endif
