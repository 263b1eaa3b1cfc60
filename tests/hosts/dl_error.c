/* SPDX-License-Identifier: MIT */
/* What dlerror says after failures, and that it says it once. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *h = dlopen("libm.so.6", RTLD_NOW);
	const char *e;

	printf("%s\n", dlerror() ? "an error, expected none" : "none");
	printf("%p\n", dlopen("/nonexistent/libnothing.so", RTLD_NOW));
	e = dlerror();
	printf("%s\n", e ? e : "none");
	e = dlerror();
	printf("%s\n", e ? e : "none");
	printf("%p\n", dlsym(h, "no_such_symbol"));
	e = dlerror();
	printf("%s\n", e ? e : "none");
	printf("%d\n", dlclose(h));
	return 9;
}
