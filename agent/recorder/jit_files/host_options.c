/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/host_options.h"

#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES (256u << 10) /* of each file; Linux's limit for both together is larger, and hosts are started with less */
#define OPTIONS_MAX 8

struct found {
	struct trace_writer *w;
	uint32_t pid;
	uint64_t time_ns;
	char option[OPTIONS_MAX][64];
	int nr;
};

static void on_option(void *found, const char *option)
{
	struct found *f = found;

	for (int i = 0; i < f->nr; i++)
		if (strcmp(f->option[i], option) == 0)
			return;
	if (f->nr == OPTIONS_MAX)
		return;
	snprintf(f->option[f->nr++], sizeof(f->option[0]), "%s", option);
	trace_record_begin(f->w, TRACE_CHUNK_RECORDS, TRACE_HOST_OPTION, f->time_ns, f->pid, 0, F_COUNT(host_option));
	trace_record_text(f->w, option, strlen(option));
	trace_record_end(f->w);
}

/* Texts that end with a NUL each. */
static void look_at(struct found *f, const char *name, char *text)
{
	char path[64];
	ssize_t n = 0, more;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", f->pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n < (ssize_t)TEXT_BYTES - 1 && (more = read(fd, text + n, TEXT_BYTES - 1 - (size_t)n)) > 0)
		n += more;
	if (fd >= 0)
		close(fd);
	text[n] = 0;
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
		jit_host_options_in(text + at, on_option, f);
}

void host_options_write(struct trace_writer *w, uint32_t pid, uint64_t time_ns)
{
	struct found f = { .w = w, .pid = pid, .time_ns = time_ns };
	char *text = malloc(TEXT_BYTES);

	if (!text)
		return;
	look_at(&f, "cmdline", text);
	look_at(&f, "environ", text);
	free(text);
}
