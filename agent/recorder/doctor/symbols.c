/* SPDX-License-Identifier: MIT */
/* Finds the files of a process, or a program's file, that lack names of their own functions, and the packages that contain these names. */
#include "agent/recorder/doctor/doctor.h"

#include "agent/recorder/images/debug_file.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/dpkg.h"
#include "jitreg/base/name_list.h"
#include "jitreg/base/regular_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES_MAX 32

struct files {
	struct dpkg_file file[FILES_MAX]; /* say() frees their paths */
	size_t nr;
	pid_t pid; /* process whose root directory the paths belong to; 0: this one's */
};

static bool has_names(const char *path, pid_t pid)
{
	struct elf_parts parts, found;
	char root[PATH_MAX], where[DEBUG_FILE_TEXT];
	uint64_t left = DEBUG_FILE_BYTES_ALL;
	bool has = true;
	int fd;

	snprintf(root, sizeof(root), "/proc/%d/root%.4000s", (int)pid, path);
	fd = regular_file_open(pid ? root : path);
	if (fd >= 0 && elf_parts_read(fd, false, &parts) == 0) {
		has = parts.has_symbols || debug_file_find(&parts, fd, path, (uint32_t)pid, NULL, &left, &found, where);
		if (!parts.has_symbols && has)
			elf_parts_free(&found);
		elf_parts_free(&parts);
	}
	if (fd >= 0)
		close(fd);
	return has;
}

static void look_at(struct files *f, const char *path)
{
	for (size_t i = 0; i < f->nr; i++)
		if (strcmp(f->file[i].path, path) == 0)
			return;
	if (f->nr == FILES_MAX || has_names(path, f->pid))
		return;
	f->file[f->nr].path = strdup(path);
	f->nr += f->file[f->nr].path != NULL;
}

static int look_at_mapping(void *files, const struct proc_mapping *m)
{
	if (m->path[0] == '/' && m->prot & PROT_EXEC)
		look_at(files, m->path);
	return 0;
}

/* Appends a name to a list if there is room, and the list does not have it yet.  between: the separator. */
static void add_name(char *list, size_t bytes, const char *name, const char *between)
{
	size_t at = strlen(list);

	if (!name_list_has(list, name, between) && at + strlen(name) + strlen(between) + 1 < bytes)
		snprintf(list + at, bytes - at, "%s%s", at ? between : "", name);
}

static void say(struct doctor *d, struct files *f)
{
	char names[256] = "", packages[240] = "", package[DPKG_NAME_BYTES];
	struct doctor_finding *finding;

	if (f->nr)
		dpkg_find_packages(DPKG_LISTS, f->file, f->nr);
	for (size_t i = 0; i < f->nr; i++) {
		add_name(names, sizeof(names), basename(f->file[i].path), ", ");
		if (!*f->file[i].package)
			continue;
		dpkg_debug_package(f->file[i].package, package);
		add_name(packages, sizeof(packages), package, " ");
	}
	for (size_t i = 0; i < f->nr; i++)
		free((char *)(uintptr_t)f->file[i].path);
	if (!f->nr) {
		doctor_add_finding(d, "symbols", "names of functions", DOCTOR_YES, "in the files or in their debug files");
		return;
	}
	finding = doctor_add_finding(d, "symbols", "names of functions", DOCTOR_LESS, "taken out of %s", names);
	if (*packages)
		doctor_set_remedy(finding, "apt install %s", packages);
	else
		doctor_set_remedy(finding, "record with --debuginfod, or install debug packages");
}

void doctor_check_symbols(struct doctor *d, const char *program, pid_t pid)
{
	struct files f = { .pid = pid };
	char path[PATH_MAX];

	if (pid)
		proc_each_mapping(pid, look_at_mapping, &f);
	else if (realpath(program, path))
		look_at(&f, path);
	say(d, &f);
}
