/* SPDX-License-Identifier: MIT */
/* Writes the command lines of the programs that run in the recorded processes, and the services that they work for. */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/service.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_LINES_BYTES (4u << 20) /* bytes after which no further command line is written; a build of 10,000 files has 3 MiB */
#define SERVICES_BYTES (4u << 20) /* bytes after which no further service is written */

struct command_line {
	char text[COMMAND_LINE_BYTES];
	size_t bytes;
};

static int append_argument(void *context, const char *argument)
{
	struct command_line *l = context;
	const size_t left = sizeof(l->text) - l->bytes;
	int n = snprintf(l->text + l->bytes, left, "%s%s", l->bytes ? " " : "", argument);

	l->bytes += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
	return l->bytes + 1 >= sizeof(l->text);
}

void recording_write_command_line(struct recording *r, uint32_t pid, uint64_t time_ns)
{
	struct command_line l = { .bytes = 0 };

	if (r->command_line_bytes >= COMMAND_LINES_BYTES)
		return;
	proc_each_terminated_text((pid_t)pid, "cmdline", append_argument, &l);
	if (!l.bytes)
		return;
	r->command_line_bytes += l.bytes;
	TRACE_PUT(r->writer, command_line, time_ns, pid, 0, .text = { l.text, l.bytes });
}

bool recording_write_service(struct recording *r, uint32_t pid, uint64_t time_ns)
{
	struct service s;

	if (r->service_bytes >= SERVICES_BYTES)
		return true;
	if (!service_read((pid_t)pid, &s))
		return false;
	if (!s.name[0] && !s.group[0] && !r->groups_noticed && !proc_is_first_namespace(PROC_NAMESPACE_CGROUP)) {
		r->groups_noticed = true;
		TRACE_PUT(r->writer, notice, recording_now_ns(r), 0, 0, .kind = trace_string(trace_notices[NOTICE_HOST]),
			  .sentence = trace_string("processes have no service: " SERVICE_GROUPS_HIDDEN));
	}
	r->service_bytes += strlen(s.group) + strlen(s.name);
	TRACE_PUT(r->writer, service, time_ns, pid, 0, .group = trace_string(s.group), .name = trace_string(s.name));
	return true;
}
