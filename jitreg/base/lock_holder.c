/* SPDX-License-Identifier: MIT */
#include "jitreg/base/lock_holder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void read_process(struct lock_holder *h)
{
	char path[32], line[512] = "", state = '?';
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)h->pid);
	f = fopen(path, "re");
	if (!f)
		return;
	/* the name in parentheses may contain ')' itself, so the last one ends it */
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	if (!end || sscanf(end, ") %c", &state) != 1)
		return;
	h->is_stopped = state == 'T' || state == 't';
	snprintf(h->name, sizeof(h->name), "%.*s", (int)(end - strchr(line, '(') - 1), strchr(line, '(') + 1);
	for (char *c = h->name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

struct lock_holder lock_holder_find(int fd)
{
	FILE *f = fopen("/proc/locks", "re");
	struct lock_holder h = { 0 };
	char line[256];
	struct stat st;

	if (fstat(fd, &st) == 0)
		while (f && !h.pid && fgets(line, sizeof(line), f)) {
			unsigned high, low;
			unsigned long long inode;
			int pid;

			if (sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%llu", &pid, &high, &low, &inode) == 4 && pid > 0 &&
			    inode == st.st_ino && high == major(st.st_dev) && low == minor(st.st_dev))
				h.pid = pid;
		}
	if (f)
		fclose(f);
	if (h.pid)
		read_process(&h);
	return h;
}

const char *lock_holder_text(const struct lock_holder *h)
{
	static char text[128];

	text[0] = 0;
	if (h->pid && h->is_stopped)
		snprintf(text, sizeof(text), ": process %d (%s), which is stopped (kill -CONT %d lets it go on)", (int)h->pid, h->name,
			 (int)h->pid);
	else if (h->pid)
		snprintf(text, sizeof(text), ": process %d (%s)", (int)h->pid, h->name);
	return text;
}
