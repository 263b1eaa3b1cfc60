/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/host_options.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS_MAX 8

struct found {
	struct trace_writer *w;
	uint32_t pid;
	uint64_t time_ns;
	char option[OPTIONS_MAX][64];
	int nr;
};

static void write_new_option(void *found, const char *option)
{
	struct found *f = found;

	for (int i = 0; i < f->nr; i++)
		if (strcmp(f->option[i], option) == 0)
			return;
	if (f->nr == OPTIONS_MAX)
		return;
	snprintf(f->option[f->nr++], sizeof(f->option[0]), "%s", option);
	TRACE_PUT(f->w, host_option, f->time_ns, f->pid, 0, .option = trace_string(option));
}

static int write_options_in_text(void *found, const char *text)
{
	jit_host_each_option_in(text, write_new_option, found);
	return 0;
}

void host_options_write(struct trace_writer *w, uint32_t pid, uint64_t time_ns)
{
	struct found f = { .w = w, .pid = pid, .time_ns = time_ns };

	proc_each_terminated_text((pid_t)pid, "cmdline", write_options_in_text, &f);
	proc_each_terminated_text((pid_t)pid, "environ", write_options_in_text, &f);
}

void host_options_write_of_command(struct trace_writer *w, uint32_t pid, uint64_t time_ns, char **command)
{
	struct found f = { .w = w, .pid = pid, .time_ns = time_ns };

	for (char **argument = command; argument && *argument; argument++)
		write_options_in_text(&f, *argument);
	for (char **variable = environ; variable && *variable; variable++)
		write_options_in_text(&f, *variable);
}
