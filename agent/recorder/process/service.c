/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/service.h"

#include "agent/recorder/process/control_group.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/regular_file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES 64 /* hexadecimal digits of a container's id */
#define ID_SHORT 12
#define CONFIG_BYTES (1u << 20) /* maximum number of bytes that are read of docker's file of a container, or of podman's file of all */
#define DOCKER "/var/lib/docker/containers"
#define PODMAN "/var/lib/containers/storage/overlay-containers/containers.json"

/* --------------------------------------------------------------------------------------------------- parts of a path */

/* Returns the text between prefix and suffix in a part of a path, and its length, or NULL if the part has another form. */
static const char *inner_text(const char *part, size_t bytes, const char *prefix, const char *suffix, size_t *inner)
{
	size_t before = strlen(prefix), behind = strlen(suffix);

	if (bytes <= before + behind || memcmp(part, prefix, before) != 0 || memcmp(part + bytes - behind, suffix, behind) != 0)
		return NULL;
	*inner = bytes - before - behind;
	return part + before;
}

/* Returns the id in a part of a path such as docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope, nerdctl-ID.scope, or
 * ID itself, or NULL if the part is no container's. */
static const char *container_id(const char *part, size_t bytes)
{
	static const char *const prefix[] = { "", "docker-", "cri-containerd-", "crio-", "libpod-", "nerdctl-" };

	for (size_t i = 0; i < 2 * sizeof(prefix) / sizeof(prefix[0]); i++) {
		size_t inner, hex = 0;
		const char *id = inner_text(part, bytes, prefix[i / 2], i % 2 ? ".scope" : "", &inner);

		while (id && hex < inner && isxdigit((unsigned char)id[hex]))
			hex++;
		if (id && inner == ID_BYTES && hex == inner)
			return id;
	}
	return NULL;
}

/* Is the part of a path the group of the container of this name, as LXC and systemd-nspawn name groups? */
static bool is_named_container(const char *part, size_t bytes, const char *name)
{
	static const char *const form[][2] = { { "machine-", ".scope" }, { "lxc.payload.", "" }, { "systemd-nspawn@", ".service" } };

	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		size_t inner;
		const char *found = inner_text(part, bytes, form[i][0], form[i][1], &inner);

		if (found && inner == strlen(name) && memcmp(found, name, inner) == 0)
			return true;
	}
	return false;
}

/* Returns the length of the path's part before *end, and moves *end to its beginning.  Returns 0 if there is none. */
static size_t previous_part(const char *path, size_t *end)
{
	size_t last, from;

	while (*end && path[*end - 1] == '/')
		--*end;
	for (last = from = *end; from && path[from - 1] != '/';)
		from--;
	*end = from;
	return last - from;
}

/* ------------------------------------------------------------------------------------------------------ of a process */

/* Names the service by the innermost .service or container in the path of its control group. */
static void name_by_group(struct service *s)
{
	size_t end = strlen(s->group), bytes, inner;

	while ((bytes = previous_part(s->group, &end))) {
		const char *part = s->group + end, *id = container_id(part, bytes);

		if (id || inner_text(part, bytes, "", ".service", &inner)) {
			snprintf(s->name, sizeof(s->name), "%.*s", id ? ID_SHORT : (int)bytes, id ? id : part);
			return;
		}
	}
}

struct best_group {
	char *group; /* buffer of SERVICE_GROUP_BYTES */
	int rank;
};

/* Keeps the group, if it is better than the one before. Version 2's is the best, then that of systemd in version 1, then others. A root
 * group is ignored. */
static void take_group(void *context, const char *controllers, const char *path)
{
	struct best_group *best = context;
	int rank = !*controllers ? 3 : strncmp(controllers, "name=systemd", 12) == 0 ? 2 : 1;

	if (rank <= best->rank || strcmp(path, "/") == 0)
		return;
	best->rank = rank;
	snprintf(best->group, SERVICE_GROUP_BYTES, "%s", path);
}

static bool read_group(pid_t pid, struct service *s)
{
	struct best_group best = { .group = s->group };

	return control_group_each(pid, take_group, &best);
}

/* Takes the service's name from a variable of the environment.  OTEL_SERVICE_NAME has precedence over service.name in
 * OTEL_RESOURCE_ATTRIBUTES (OpenTelemetry's specification, "Resource SDK").  Returns 1 if it was the former, which ends the search. */
static int take_variable(void *context, const char *text)
{
	static const char name[] = "OTEL_SERVICE_NAME=", attributes[] = "OTEL_RESOURCE_ATTRIBUTES=", key[] = "service.name=";
	struct service *s = context;

	if (strncmp(text, name, sizeof(name) - 1) == 0 && text[sizeof(name) - 1]) {
		snprintf(s->name, sizeof(s->name), "%s", text + sizeof(name) - 1);
		return 1;
	}
	if (strncmp(text, attributes, sizeof(attributes) - 1) == 0)
		for (text += sizeof(attributes) - 1; text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
			if (strncmp(text, key, sizeof(key) - 1) == 0)
				snprintf(s->name, sizeof(s->name), "%.*s", (int)strcspn(text + sizeof(key) - 1, ","),
					 text + sizeof(key) - 1);
	return 0;
}

bool service_read(pid_t pid, struct service *out)
{
	*out = (struct service){ .group = "" };
	if (!read_group(pid, out))
		return false;
	/* an empty environment is also read of a process that has just ended, although /proc still shows its group */
	if (proc_each_terminated_text(pid, "environ", take_variable, out) == 0 && !out->name[0] && proc_mem_living_thread(pid) == 0)
		return false;
	if (!out->name[0])
		name_by_group(out);
	return true;
}

/* ----------------------------------------------------------------------------------------------------- which are wanted */

/* Finds the id of the container of this name in a file of docker or podman.  It is the last id before the name, or else the one in the path
 * of docker's file.  Returns false if the file does not have the name, or cannot be read. */
static bool find_id_in_file(const char *path, const char *name, char id[ID_BYTES + 1])
{
	char *text = malloc(CONFIG_BYTES), wanted[2][300], *at = NULL;
	int fd = text ? regular_file_open(path) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, CONFIG_BYTES - 1);
	bool found = false;

	snprintf(wanted[0], sizeof(wanted[0]), "\"Name\":\"/%.256s\"", name);
	snprintf(wanted[1], sizeof(wanted[1]), "\"names\":[\"%.256s\"", name);
	if (n > 0) {
		text[n] = 0;
		at = strstr(text, wanted[0]) ? strstr(text, wanted[0]) : strstr(text, wanted[1]);
	}
	for (char *c = text; at && c < at; c++)
		if (at - c > 6 + ID_BYTES && strncasecmp(c, "\"id\":\"", 6) == 0 && container_id(c + 6, ID_BYTES)) {
			snprintf(id, ID_BYTES + 1, "%s", c + 6);
			found = true; /* the search goes on, as the last id before the name is the container's */
		}
	/* docker's file may have the id only after the name, but its folder has the id as its name */
	if (at && !found && strlen(path) > sizeof(DOCKER) + ID_BYTES && container_id(path + sizeof(DOCKER), ID_BYTES)) {
		snprintf(id, ID_BYTES + 1, "%s", path + sizeof(DOCKER));
		found = true;
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return found;
}

static bool find_id_of_name(const char *name, char id[ID_BYTES + 1])
{
	bool found = find_id_in_file(PODMAN, name, id);
	DIR *d = found ? NULL : opendir(DOCKER);
	struct dirent *e;
	char path[512];

	while (d && !found && (e = readdir(d))) {
		snprintf(path, sizeof(path), DOCKER "/%s/config.v2.json", e->d_name);
		found = e->d_name[0] != '.' && find_id_in_file(path, name, id);
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_wanted_unit(const char *unit, const char *part, size_t bytes)
{
	size_t n = strlen(unit), ending = strchr(unit, '.') ? 0 : sizeof(".service") - 1;

	return bytes == n + ending && memcmp(part, unit, n) == 0 && memcmp(part + n, ".service", ending) == 0;
}

static bool is_wanted_container(const char *wanted, const char *part, size_t bytes)
{
	static char id[ID_BYTES + 1], of[256]; /* the name that was looked up last (of), and its id, or "" if there is none */
	const char *found = container_id(part, bytes);
	size_t n = strlen(wanted);

	if (is_named_container(part, bytes, wanted))
		return true;
	if (!found)
		return false;
	if (n >= ID_SHORT && n <= ID_BYTES && strncmp(found, wanted, n) == 0)
		return true;
	if (strcmp(of, wanted) != 0) {
		snprintf(of, sizeof(of), "%s", wanted);
		if (!find_id_of_name(wanted, id))
			id[0] = 0;
	}
	return id[0] && memcmp(found, id, ID_BYTES) == 0;
}

bool service_is_wanted(const struct service_wanted *w, const char *group)
{
	size_t end = strlen(group), bytes;

	while ((bytes = previous_part(group, &end)))
		if (w->unit ? is_wanted_unit(w->unit, group + end, bytes) : is_wanted_container(w->container, group + end, bytes))
			return true;
	return false;
}

struct search {
	const struct service_wanted *wanted;
	int (*each)(void *context, pid_t pid);
	void *context;
};

bool service_has_process(const struct service_wanted *w, pid_t pid)
{
	struct service of = { .group = "" };

	return read_group(pid, &of) && service_is_wanted(w, of.group);
}

static int visit_process(void *search, pid_t pid)
{
	const struct search *s = search;

	return service_has_process(s->wanted, pid) ? s->each(s->context, pid) : 0;
}

int service_each_process(const struct service_wanted *w, int (*each)(void *context, pid_t pid), void *context)
{
	return proc_each_numbered_entry("/proc", visit_process, &(struct search){ w, each, context });
}
