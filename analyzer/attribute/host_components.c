/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/host_components.h"

#include "analyzer/attribute/host_names.h"

#include <stdio.h>
#include <string.h>

#define LINKS_MAX 256 /* limit of links of a function to code objects that contain it, because each new link is compared with all others */
#define NO_FILE "unknown" /* the file name that PHP writes into all line tables */
#define SEED 0xcbf29ce484222325ull /* FNV-1a */

static uint64_t hash_more_bytes(uint64_t h, const char *bytes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
	return (h ^ 0xff) * 0x100000001b3ull;
}

/* Finds or makes the component of a level by the hash of its names. A new one gets copies of name and detail. Returns COMPONENT_NONE if the
 * level is not one that the analyzer made, or if memory runs out. */
static uint32_t get_host_component(struct attribution *a, struct host_components *h, const struct code *c, enum host_level level,
				   uint64_t what, const char *name, size_t name_bytes, const char *detail, size_t detail_bytes)
{
	struct model *m = a->model;
	uint32_t id = hash_map_find(&h->ids, what, level), i;
	struct component *component;

	if (m->host_level[level] == LEVELS_MAX)
		return COMPONENT_NONE;
	if (!id) {
		id = ++h->nr_ids[level];
		hash_map_set(&h->ids, what, level, id);
	}
	i = dictionary_get_component(&m->dictionary, c->process, m->host_level[level], id);
	component = &m->dictionary.components.at[i];
	if (i && !component->name) {
		component->name = strndup(name, name_bytes);
		component->detail = strndup(detail, detail_bytes);
	}
	return i;
}

static const char *file_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Returns a file's name with its folder's, because many files are called index.js. */
static const char *last_two_path_parts(const char *path, size_t bytes)
{
	size_t at = bytes;

	for (int slashes = 0; at > 0; at--)
		if (path[at - 1] == '/' && at < bytes && ++slashes == 2)
			break;
	return path + at;
}

void host_components_find(struct attribution *a, struct host_components *h, const struct code *c, const struct host_place *at,
			  uint32_t *low, uint32_t *object)
{
	struct dictionary *d = &a->model->dictionary;
	uint64_t what = SEED;
	struct host_name n;
	uint32_t module = COMPONENT_NONE, function, line = COMPONENT_NONE;
	char name[300], place[4200];
	bool no_file = strcmp(at->line_file, NO_FILE) == 0;

	host_name_split(at->function, &n);
	if (!n.module_bytes && strcmp(at->file, NO_FILE) != 0) {
		n.module = at->file;
		n.module_bytes = strlen(at->file);
	}
	what = hash_more_bytes(what, n.module, n.module_bytes);
	if (n.module_bytes) {
		const char *brief = last_two_path_parts(n.module, n.module_bytes);

		module = get_host_component(
			a, h, c, HOST_LEVEL_MODULE, what, brief, n.module_bytes - (size_t)(brief - n.module), n.module, n.module_bytes);
	}
	if (n.line_is_place && at->first_line) {
		n.place_bytes = (size_t)snprintf(place, sizeof(place), "%.*s:%u", (int)n.module_bytes, n.module, at->first_line);
		n.place_bytes = n.place_bytes < sizeof(place) ? n.place_bytes : sizeof(place) - 1;
		n.place = place;
	}
	what = hash_more_bytes(hash_more_bytes(what, n.function, n.function_bytes), n.place, n.place_bytes);
	function = get_host_component(a, h, c, HOST_LEVEL_FUNCTION, what, n.function, n.function_bytes, n.place, n.place_bytes);
	*object = get_host_component(
		a, h, c, HOST_LEVEL_OBJECT, hash_more_bytes(SEED, at->object, strlen(at->object)), at->object, strlen(at->object), "", 0);
	if (at->line && !no_file) {
		snprintf(name, sizeof(name), "%s:%u", file_base_name(at->line_file), at->line);
		what = hash_more_bytes(what, at->line_file, strlen(at->line_file)) + at->line;
		line = get_host_component(a, h, c, HOST_LEVEL_LINE, what, name, strlen(name), at->line_file, strlen(at->line_file));
	}
	dictionary_link(d, line, function, 1, 0);
	dictionary_link(d, function, module, 1, 0);
	if (strcmp(at->object, at->function) == 0)
		dictionary_link_same(d, function, *object);
	else if (d->components.at[function].links.nr < LINKS_MAX)
		dictionary_link(d, function, *object, 1, 0);
	a->objects_differ |= strlen(at->object) != n.function_bytes || memcmp(at->object, n.function, n.function_bytes) != 0;
	*low = line ? line : function ? function : module;
}
