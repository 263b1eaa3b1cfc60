/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/proc_file.h"

#include "jitreg/base/regular_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mman.h>

#define TEXTS_MAX (1u << 20)
#define PAGE_BYTES 4096 /* buffer for /proc/PID/maps, of which the kernel returns up to a page at a time; libc's buffer has 1024 */

/* Opens /proc/PID/file, or that of thread tid unless it is 0.  Returns NULL, with errno, if that fails. */
static FILE *open_proc_file(pid_t pid, pid_t tid, const char *file)
{
	char path[64];
	int fd;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = regular_file_open(path);
	return fd < 0 ? NULL : fdopen(fd, "r");
}

bool proc_read_number(const char *path, long long *value)
{
	FILE *f = fopen(path, "re");
	bool read = f && fscanf(f, "%lld", value) == 1;

	if (f)
		fclose(f);
	return read;
}

void proc_read_value(const char *path, const char *key, char *value, size_t bytes)
{
	FILE *f = fopen(path, "re");
	char line[4096];

	value[0] = 0;
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0) {
			const char *at = line + strlen(key);

			at += strspn(at, " \t:");
			snprintf(value, bytes, "%.*s", (int)strcspn(at, "\n"), at);
			break;
		}
	if (f)
		fclose(f);
}

uint64_t proc_limit(pid_t pid, const char *name)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	proc_read_value(path, name, text, sizeof(text));
	return strncmp(text, "unlimited", strlen("unlimited")) == 0 ? UINT64_MAX : strtoull(text, NULL, 10);
}

bool proc_stat(pid_t pid, pid_t tid, struct proc_stat *out)
{
	FILE *f = open_proc_file(pid, tid, "stat");
	char text[1024];
	unsigned long long ticks, user, kernel;
	const char *at;
	size_t n;
	int parent;

	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	at = strrchr(text, ')'); /* the last one, since the name before it may contain parentheses */
	if (!at || sscanf(at + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu", &out->state,
			  &parent, &user, &kernel, &ticks) != 5)
		return false;
	out->parent = parent;
	out->start_ticks = ticks;
	out->used_ticks = user + kernel;
	return true;
}

int proc_status(pid_t pid, pid_t tid, struct proc_status *out)
{
	FILE *f = open_proc_file(pid, tid, "status");
	char line[512];

	*out = (struct proc_status){ .process = pid, .parent = -1, .user = -1, .effective_user = -1, .own_pid = pid };
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (fgets(line, sizeof(line), f)) {
		unsigned long long set;

		if (strncmp(line, "State:", 6) == 0)
			out->state = line[6 + strspn(line + 6, " \t")];
		else if (strncmp(line, "NSpid:", 6) == 0 && strrchr(line, '\t'))
			out->own_pid = (pid_t)strtol(strrchr(line, '\t'), NULL, 10); /* the innermost comes last */
		else if (strncmp(line, "VmSize:", 7) == 0)
			out->has_memory = true;
		else if (sscanf(line, "SigPnd: %llx", &set) == 1 || sscanf(line, "ShdPnd: %llx", &set) == 1)
			out->pending_signals |= set;
		else if (sscanf(line, "Tgid: %ld", &out->process) != 1 && sscanf(line, "PPid: %ld", &out->parent) != 1 &&
			 sscanf(line, "Uid: %ld %ld", &out->user, &out->effective_user) != 2)
			sscanf(line, "TracerPid: %ld", &out->tracer);
	}
	fclose(f);
	return out->state ? 0 : -ESRCH;
}

/* Parses "START-END PROT OFFSET MAJOR:MINOR INODE  PATH\n", and cuts the newline off, so that m->path points into the line.  sscanf() is
 * not used, as it took as long as the kernel does to write the line.  Returns false if the line is no mapping. */
static bool read_mapping_line(char *line, struct proc_mapping *m)
{
	char *at, *prot;
	uint64_t major;

	*m = (struct proc_mapping){ .start = strtoull(line, &at, 16) };
	if (*at != '-')
		return false;
	m->end = strtoull(at + 1, &at, 16);
	prot = at + 1;
	if (m->end <= m->start || *at != ' ' || strnlen(prot, 5) < 5 || prot[4] != ' ')
		return false;
	m->prot = (prot[0] == 'r' ? PROT_READ : 0u) | (prot[1] == 'w' ? PROT_WRITE : 0u) | (prot[2] == 'x' ? PROT_EXEC : 0u);
	m->shared = prot[3] == 's';
	m->offset = strtoull(prot + 5, &at, 16);
	major = strtoull(at, &at, 16);
	if (*at != ':')
		return false;
	m->device = major << 32 | strtoull(at + 1, &at, 16);
	m->inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	at[strcspn(at, "\n")] = 0;
	m->path = at;
	return true;
}

int proc_each_mapping(pid_t pid, int (*each)(void *context, const struct proc_mapping *m), void *context)
{
	FILE *f = open_proc_file(pid, 0, "maps");
	char *line = NULL, buffer[PAGE_BYTES];
	size_t capacity = 0;
	int ret = 0;

	if (!f)
		return -errno;
	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	while (ret == 0 && getline(&line, &capacity, f) > 0) {
		struct proc_mapping m;

		if (!read_mapping_line(line, &m))
			continue;
		ret = each(context, &m);
	}
	free(line);
	fclose(f);
	return ret;
}

int proc_each_terminated_text(pid_t pid, const char *name, int (*each)(void *context, const char *text), void *context)
{
	char *all = malloc(TEXTS_MAX);
	FILE *f = all ? open_proc_file(pid, 0, name) : NULL;
	int ret = all ? 0 : -ENOMEM;
	size_t n = 0;

	if (f) {
		n = fread(all, 1, TEXTS_MAX - 1, f);
		all[n] = 0;
		fclose(f);
	} else if (all) {
		ret = -errno;
	}
	for (size_t at = 0; at < n && ret == 0; at += strlen(all + at) + 1)
		ret = each(context, all + at);
	free(all);
	return ret;
}

int proc_each_numbered_entry(const char *folder, int (*each)(void *context, pid_t number), void *context)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int ret = 0;

	if (!dir)
		return -errno;
	while (ret == 0 && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			ret = each(context, (pid_t)strtol(e->d_name, NULL, 10));
	closedir(dir);
	return ret;
}

bool proc_is_first_namespace(enum proc_namespace kind)
{
	static const struct {
		const char *path;
		ino_t inode; /* inode that the kernel gives the first namespace (include/linux/proc_ns.h) */
	} first[] = { [PROC_NAMESPACE_PID] = { "/proc/self/ns/pid", 0xEFFFFFFC },
		      [PROC_NAMESPACE_USER] = { "/proc/self/ns/user", 0xEFFFFFFD },
		      [PROC_NAMESPACE_CGROUP] = { "/proc/self/ns/cgroup", 0xEFFFFFFB } };
	struct stat s;

	return stat(first[kind].path, &s) || s.st_ino == first[kind].inode;
}

bool proc_is_root_of_machine(void)
{
	return geteuid() == 0 && proc_is_first_namespace(PROC_NAMESPACE_USER);
}
