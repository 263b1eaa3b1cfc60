/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/debuginfod.h"

#include "jitreg/base/clock.h"
#include "jitreg/base/message.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"
#define URLS "DEBUGINFOD_URLS"
#define SERVERS "https://debuginfod.elfutils.org/" /* this server asks those of distributions */
#define SECONDS_MAX 60u
#define PROGRESS_NS 200000000u

/* This is the library with its functions (elfutils/debuginfod.h).  The client is opaque. */
struct debuginfod {
	bool asked, is_loaded;
	void *client;
	int (*find_debuginfo)(void *client, const unsigned char *build_id, int bytes, char **path);
	void (*end)(void *client);
	uint64_t until_ns; /* time at which no more is fetched; 0: the library is not loaded */
	uint64_t shown_ns;
	bool (*is_over)(void *context); /* NULL: only until_ns limits */
	void *over_context;
	const char *name; /* name of the file that is fetched */
	const char *problem;
};

struct debuginfod *debuginfod_create(bool asked)
{
	const char *urls = getenv(URLS);
	struct debuginfod *d = asked || (urls && *urls) ? calloc(1, sizeof(*d)) : NULL;

	if (d)
		d->asked = asked;
	return d;
}

void debuginfod_destroy(struct debuginfod *d)
{
	if (d && d->client)
		d->end(d->client);
	free(d);
}

void debuginfod_set_limit(struct debuginfod *d, bool (*is_over)(void *context), void *context)
{
	d->is_over = is_over;
	d->over_context = context;
}

static void show(struct debuginfod *d, long have, long all)
{
	uint64_t now_ns = clock_now_ns();
	char *name;

	if (!isatty(2) || now_ns - d->shown_ns < PROGRESS_NS)
		return;
	d->shown_ns = now_ns;
	name = message_escape(d->name);
	fprintf(stderr, "\r\33[Kfetching symbols of %s", name ? name : "a file");
	if (all > 0)
		fprintf(stderr, ": %ld of %ld KB", have / 1024, all / 1024);
	free(name);
}

static struct debuginfod *shown; /* set for on_progress(), because older libraries cannot pass a pointer to it */

/* Called by the library while it fetches.  Returns nonzero to end the fetch. */
static int on_progress(void *client, long have, long all)
{
	(void)client;
	show(shown, have, all);
	return clock_now_ns() > shown->until_ns || (shown->is_over && shown->is_over(shown->over_context));
}

/* Loads the library.  It is never unloaded, because it and the library that it uses (curl) do not survive being loaded twice. */
static bool load(struct debuginfod *d)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *(*begin)(void) = NULL;
	void (*set_progress)(void *, int (*)(void *, long, long)) = NULL;

	d->is_loaded = true;
	if (library) {
		*(void **)&begin = dlsym(library, "debuginfod_begin");
		*(void **)&set_progress = dlsym(library, "debuginfod_set_progressfn");
		*(void **)&d->find_debuginfo = dlsym(library, "debuginfod_find_debuginfo");
		*(void **)&d->end = dlsym(library, "debuginfod_end");
	}
	if (!begin || !set_progress || !d->find_debuginfo || !d->end) {
		d->problem = !d->asked ? NULL : "debug files are not fetched: " LIBRARY " is missing (package libdebuginfod1, "
						"elfutils-debuginfod-client)";
		return false;
	}
	setenv(URLS, SERVERS, 0); /* the host does not inherit this, because it was started before */
	d->client = begin();
	if (d->client)
		set_progress(d->client, on_progress);
	d->until_ns = clock_now_ns() + SECONDS_MAX * 1000000000ull;
	return d->client != NULL;
}

bool debuginfod_fetch(struct debuginfod *d, const unsigned char *build_id, size_t bytes, const char *name, char path[PATH_MAX])
{
	char *at = NULL;
	bool found;
	int fd;

	if (!d->is_loaded)
		load(d);
	if (!d->client || !bytes || bytes > INT32_MAX)
		return false;
	shown = d;
	d->name = name;
	fd = clock_now_ns() > d->until_ns ? -1 : d->find_debuginfo(d->client, build_id, (int)bytes, &at);
	if (fd < 0 && clock_now_ns() > d->until_ns)
		d->problem = "debug files were not fetched: servers took more than a minute";
	if (d->shown_ns && isatty(2))
		fprintf(stderr, "\r\33[K");
	if (fd >= 0)
		close(fd);
	found = fd >= 0 && at && snprintf(path, PATH_MAX, "%s", at) < PATH_MAX;
	free(at);
	return found;
}

const char *debuginfod_problem(const struct debuginfod *d)
{
	return d ? d->problem : NULL;
}
