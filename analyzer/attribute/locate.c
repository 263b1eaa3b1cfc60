/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/locate.h"

#include "analyzer/attribute/host_components.h"
#include "analyzer/attribute/host_names.h"
#include "analyzer/symbols/demangle.h"
#include "jitreg/hosts/jit_hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INLINES_MAX 32

#define ADD(array, nr, capacity) ((nr) < (capacity) || grow_zeroed_array((void **)&(array), &(capacity), sizeof(*(array))))

static bool grow_zeroed_array(void **array, uint32_t *capacity, size_t each)
{
	uint32_t more = *capacity ? 2 * *capacity : 256;
	void *bigger = realloc(*array, more * each);

	if (!bigger)
		return false;
	memset((char *)bigger + *capacity * each, 0, (more - *capacity) * each);
	*array = bigger;
	*capacity = more;
	return true;
}

static uint32_t get_image(struct locator *l, const char *path)
{
	struct attribution *a = l->a;
	uint64_t h = hash_text(path);
	uint32_t i = hash_map_find(&l->images, h, 0);

	if (i || !ADD(a->image, a->nr_images, l->images_capacity))
		return i;
	i = a->nr_images++;
	a->image[i].path = strdup(path);
	hash_map_set(&l->images, h, 0, i);
	return i;
}

/* ---------------------------------------------------------------------------------------- names that people are shown */

char *attribution_name_of_symbol(const struct attribution *a, const char *symbol)
{
	char *name = a->no_demangle ? NULL : demangle(symbol);

	return name ? name : strdup(symbol);
}

const char *attribution_also(const struct attribution *a, const struct function *f, char text[FUNCTION_ALSO])
{
	char *other = f->folded ? attribution_name_of_symbol(a, f->folded) : NULL;

	*text = 0;
	if (other && f->nr_folded > 1)
		snprintf(text, FUNCTION_ALSO, "= %.100s and %u more", other, f->nr_folded - 1);
	else if (other)
		snprintf(text, FUNCTION_ALSO, "= %.100s", other);
	else if (f->nr_same)
		snprintf(text, FUNCTION_ALSO, "%u functions of this name", f->nr_same + 1);
	free(other);
	return text;
}

void attribution_make_label(const struct attribution *a, struct function *f)
{
	char also[FUNCTION_ALSO];

	free(f->label);
	f->label = NULL;
	if (*attribution_also(a, f, also) && asprintf(&f->label, "%s (%s)", f->name, also) < 0)
		f->label = NULL;
}

size_t function_label_name_bytes(const char *label)
{
	static const char of_this_name[] = " functions of this name)";
	const size_t bytes = strlen(label), end = sizeof(of_this_name) - 1;
	const char *folded = bytes && label[bytes - 1] == ')' ? strstr(label, " (= ") : NULL;
	size_t at = bytes;

	if (folded)
		return (size_t)(folded - label);
	if (bytes <= end || strcmp(label + bytes - end, of_this_name) != 0)
		return bytes;
	for (at = bytes - end; at && label[at - 1] >= '0' && label[at - 1] <= '9';)
		at--;
	return at > 2 && at < bytes - end && strncmp(label + at - 2, " (", 2) == 0 ? at - 2 : bytes;
}

/* ---------------------------------------------------------------------------------------------------------- functions */

/* Returns the host's work (compiler, collector) that a function is part of.  Generated code does the program's own work, so it has none. */
static enum reason host_work_of_symbol(const struct locator *l, const char *name, uint32_t image, bool jit)
{
	char *demangled = jit || !l->a->no_demangle ? NULL : demangle(name);
	enum reason work = jit ? REASON_NONE : host_work_of_function(demangled ? demangled : name, l->a->image[image].path);

	free(demangled);
	return work;
}

/* Is the symbol of Rust's older scheme, whose end is a hash (17h, 16 digits, E)?  Instances of a generic function differ by that alone. */
static bool has_rust_hash(const char *symbol)
{
	const size_t bytes = strlen(symbol), end = 20;

	return bytes > end && strncmp(symbol + bytes - end, "17h", 3) == 0 && strspn(symbol + bytes - 17, "0123456789abcdef") == 16 &&
	       symbol[bytes - 1] == 'E';
}

/* Finds or adds a function, and returns its index, or 0 if memory runs out. name is freed or kept. A symbol is demangled when it is new.
 * Symbols of an image whose demangled names are the same are one function, such as those of a constructor's two bodies.
 * maker: what generated code without a symbol, which is another function if something else generated it; or NULL. */
static uint32_t get_function(struct locator *l, char *name, uint32_t image, bool symbol, bool jit, const char *maker)
{
	struct attribution *a = l->a;
	const uint64_t of_maker = maker && !symbol ? hash_text(maker) : 0;
	uint64_t h = hash_text(name) ^ of_maker, kind = (uint64_t)image << 2 | (unsigned)symbol << 1 | jit;
	uint32_t i = hash_map_find(&l->functions, h, kind);
	char *mangled = NULL;

	if (!i && symbol && !a->no_demangle) {
		char *demangled = demangle(name);

		if (demangled) {
			mangled = name;
			name = demangled;
			i = hash_map_find(&l->functions, hash_text(name), kind);
		}
	}
	if (!i && ADD(a->function, a->nr_functions, l->functions_capacity)) {
		i = a->nr_functions++;
		a->function[i] =
			(struct function){ name, mangled, image, symbol, jit, false, plan_codes_pattern(&a->model->plan_codes, name),
					   host_work_of_symbol(l, name, image, jit), NULL, 0, NULL, 0, { NULL, 0 }, NULL };
		hash_map_set(&l->functions, hash_text(name) ^ of_maker, kind, i);
		if (mangled)
			hash_map_set(&l->functions, h, kind, i);
		return i;
	}
	if (i && mangled) {
		hash_map_set(&l->functions, h, kind, i);
		a->function[i].nr_same += has_rust_hash(mangled) && a->function[i].mangled &&
					  strcmp(mangled, a->function[i].mangled) != 0;
	}
	free(name);
	free(mangled);
	return i;
}

/* Is this a library of libc, in which several names for one function are usual, and folded functions are not? */
static bool is_of_aliases(const char *path)
{
	static const char *const libraries[] = { "libc.", "libc-", "libm.", "libm-", "libpthread", "librt", "libdl", "ld-linux", "ld-2" };

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strncmp(basename(path), libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

/* Notes which functions a linker has folded into this one. */
static void note_folded(struct locator *l, uint32_t function, const struct elf_function *f)
{
	struct function *to = &l->a->function[function];

	if (!f->folded || to->folded || is_of_aliases(l->a->image[to->image].path))
		return;
	to->folded = f->folded;
	to->nr_folded = f->nr_folded;
	attribution_make_label(l->a, to);
}

/* Notes where a function is declared, if that is asked for and was unknown. */
static void note_declaration(struct locator *l, uint32_t function, const struct elf_declaration *d)
{
	struct function *f = &l->a->function[function];

	if (l->declarations && !f->declared.line)
		f->declared = *d;
}

static uint32_t get_line(struct locator *l, const struct code *code, const char *file, uint32_t number, bool jit)
{
	struct attribution *a = l->a;
	uint64_t h = hash_text(file);
	uint32_t i = hash_map_find(&l->lines, h, (uint64_t)number << 1 | jit);

	if (i || !ADD(a->line, a->nr_lines, l->lines_capacity))
		return i;
	i = a->nr_lines++;
	a->line[i] = (struct line){ strdup(file), number, jit, code };
	hash_map_set(&l->lines, h, (uint64_t)number << 1 | jit, i);
	return i;
}

static uint32_t add_location(struct locator *l, const struct location *from)
{
	if (!ADD(l->location, l->nr_locations, l->capacity))
		return 0;
	l->location[l->nr_locations] = *from;
	return l->nr_locations++;
}

int locator_init(struct locator *l, struct attribution *a)
{
	struct location none = { 0 };

	memset(l, 0, sizeof(*l));
	l->a = a;
	/* Index 0 of everything is "none". */
	if (!ADD(a->function, a->nr_functions, l->functions_capacity) || !ADD(a->line, a->nr_lines, l->lines_capacity) ||
	    !ADD(a->image, a->nr_images, l->images_capacity))
		return -ENOMEM;
	a->function[a->nr_functions++].name = strdup("");
	a->line[a->nr_lines++].file = strdup("");
	a->image[a->nr_images++].path = strdup("");
	add_location(l, &none);
	l->kernel = locate_name_only(l, "[kernel]");
	none.image = get_image(l, "[unknown]");
	none.function = get_function(l, strdup("[unknown]"), none.image, false, false, NULL);
	a->function[none.function].unknown = true;
	l->unknown = add_location(l, &none);
	if (a->model->kernel_functions.nr) {
		l->kernel_function = calloc(a->model->kernel_functions.nr, sizeof(*l->kernel_function));
		l->kernel_address = calloc(1u << LOCATE_KERNEL_BITS, sizeof(*l->kernel_address));
		if (!l->kernel_function || !l->kernel_address)
			return -ENOMEM;
	}
	return l->unknown == 2 ? 0 : -ENOMEM;
}

uint32_t locate_name_only(struct locator *l, const char *name)
{
	struct location none = { 0 };

	none.image = get_image(l, name);
	none.function = get_function(l, strdup(name), none.image, false, false, NULL);
	return add_location(l, &none);
}

static uint32_t locate_kernel_function(struct locator *l, uint32_t function)
{
	const struct kernel_function *f = &l->a->model->kernel_functions.at[function];
	struct location new = { 0 };

	if (!l->kernel_function[function]) {
		new.image = get_image(l, f->image);
		new.function = get_function(l, strdup(f->name), new.image, true, false, NULL);
		l->kernel_function[function] = add_location(l, &new);
	}
	return l->kernel_function[function] ? l->kernel_function[function] : l->kernel;
}

uint32_t locate_kernel(struct locator *l, uint64_t address)
{
	uint32_t location = locate_kernel_known(l, address), function;

	if (location)
		return location;
	function = kernel_functions_find(&l->a->model->kernel_functions, address);
	location = function ? locate_kernel_function(l, function - 1) : l->kernel;
	*locate_kernel_slot(l, address) = (struct kernel_address){ address, location };
	return location;
}

void locator_fini(struct locator *l)
{
	hash_map_fini(&l->by_address);
	hash_map_fini(&l->functions);
	hash_map_fini(&l->lines);
	hash_map_fini(&l->images);
	hash_map_fini(&l->host.ids);
	nameless_fini(&l->nameless);
	makers_fini(&l->makers);
	programs_fini(&l->programs);
	free(l->location);
	free(l->kernel_function);
	free(l->kernel_address);
}

/* Returns the component of a source line.  The text is the one with that file name when the code was registered. */
static uint32_t component_of_line(struct locator *l, const struct process *p, const struct code *c, const char *file, uint32_t number)
{
	const struct source *s = number ? model_find_source(l->a->model, p, file, c->from_ns) : NULL;

	return s ? model_line_component(l->a->model, s, number, c->from_ns) : COMPONENT_NONE;
}

static void locate_in_elf(struct locator *l, const struct process *p, const struct code *c, uint64_t address, struct location *out)
{
	struct elf_object *elf = c->kind == CODE_ELF ? c->elf : c->file ? c->file->elf : NULL;
	struct elf_function f = { 0 };
	struct elf_declaration declared;
	struct elf_line row, before, after;
	bool has_before, has_after, has_function;
	char *name;
	const char *plt;
	uint64_t at, start;

	out->jit = c->kind == CODE_ELF || c->generated;
	out->image = get_image(l, c->path);
	if (l->without_names && !out->jit)
		return;
	if (!elf || !code_file_address(c, address, &at)) {
		out->function = get_function(l, strdup(basename(c->path)), out->image, false, out->jit, NULL);
		return;
	}
	has_function = elf_find_function(elf, at, &f) && (f.bytes || nameless_same_function(&l->nameless, elf, f.address, at)) &&
		       !(out->jit && jit_host_is_code_buffer(f.name));
	if (has_function) {
		out->function = get_function(l, strdup(f.name), out->image, true, out->jit, NULL);
		note_folded(l, out->function, &f);
		if (l->declarations && !l->a->function[out->function].declared.line && elf_find_declaration(elf, at, &declared))
			note_declaration(l, out->function, &declared);
	} else if (elf_find_plt(elf, at, &plt) && asprintf(&name, "%s@plt", plt) > 0) {
		out->function = get_function(l, name, out->image, true, out->jit, NULL);
	} else if (!out->jit && nameless_find_function(&l->nameless, elf, at, &start) &&
		   asprintf(&name, "%s+%#llx", basename(c->path), (unsigned long long)start) > 0) {
		out->function = get_function(l, name, out->image, false, out->jit, NULL);
	} else {
		out->function = get_function(l, strdup(basename(c->path)), out->image, false, out->jit, NULL);
	}
	if ((l->without_lines && !out->jit) || !elf_find_line(elf, at, &row))
		return;
	if (row.line) {
		out->line = get_line(l, c, row.file, row.line, out->jit);
		out->component = out->jit ? component_of_line(l, p, c, row.file, row.line) : COMPONENT_NONE;
		return;
	}
	/* The line table says that this instruction belongs to no line, because the compiler merged several.  The nearest lines of the
	 * same function stand for it. */
	out->line0 = out->jit;
	if (!out->jit || !has_function)
		return;
	elf_find_lines_around(elf, at, f.address, f.address + f.bytes, &before, &has_before, &after, &has_after);
	if (has_before)
		out->before = component_of_line(l, p, c, before.file, before.line);
	if (has_after)
		out->after = component_of_line(l, p, c, after.file, after.line);
	if (has_before || has_after) {
		const struct elf_line *near = has_before ? &before : &after;

		out->line = get_line(l, c, near->file, near->line, out->jit);
	}
}

static void locate_in_loaded_code(struct locator *l, const struct process *p, const struct code *c, uint64_t address, struct location *out)
{
	const struct code_line *row = NULL;
	const struct code_entry *entry = NULL;

	out->jit = true;
	out->image = get_image(l, c->path);
	out->function = get_function(l, c->name && *c->name ? host_name_of_function(c->name) : strdup("(no name)"), out->image,
				     c->kind == CODE_LOAD && c->name && *c->name, true, makers_find(&l->makers, l->a->model, p, c));
	for (size_t i = 0; i < c->nr_lines && c->address + c->lines[i].offset <= address; i++)
		row = &c->lines[i];
	if (row && row->line) {
		out->line = get_line(l, c, row->file, row->line, true);
		out->component = component_of_line(l, p, c, row->file, row->line);
	}
	for (size_t i = 0; i < c->nr_entries && c->entries[i].offset <= address - c->address; i++)
		entry = &c->entries[i];
	if (entry)
		out->component = entry->component;
}

/* Returns the ELF object that describes an address, and in *at that address in it. For a LOAD it is the ELF object that a JIT registered
 * beside it (model_elf_duplicate_of()). Returns NULL if there is none. */
static struct elf_object *elf_object_at(struct locator *l, const struct code *c, uint64_t address, uint64_t *at)
{
	if (c->kind == CODE_LOAD)
		c = model_elf_duplicate_of(l->a->model, l->a->model->codes.at[c->number]);
	return !c || !code_file_address(c, address, at) ? NULL : c->kind == CODE_ELF ? c->elf : c->file->elf;
}

/* Finds the inlined functions at an address, the innermost first, by the JIT's records or by DWARF. */
static size_t find_inlines(struct locator *l, const struct code *c, uint64_t address, struct elf_inline out[INLINES_MAX])
{
	struct elf_object *elf;
	uint64_t at;

	if (c->kind == CODE_LOAD && c->nr_inlines)
		return code_inlines_find(c->inlines, c->nr_inlines, address, out, INLINES_MAX);
	elf = elf_object_at(l, c, address, &at);
	return elf ? elf_find_inlines(elf, at, out, INLINES_MAX) : 0;
}

/* Returns the file of the first line of the function around at, or other if it is unknown. */
static const char *source_file_of_function(struct elf_object *elf, uint64_t at, const char *other)
{
	struct elf_function f;
	struct elf_line first;

	return elf_find_function(elf, at, &f) && elf_find_line(elf, f.address, &first) && *first.file ? first.file : other;
}

/* Returns the file of the function that a JIT compiled, or other if it is unknown.  The first row of the line table may be of an inlined
 * function.  So it is preferably the file in which the function calls one that was inlined. */
static const char *file_of_load(const struct code *c, const char *other)
{
	for (size_t i = 1; i < c->nr_inlines; i++) {
		const struct code_inline *outer = &c->inlines[i - 1];

		if (outer->depth == 0 && c->inlines[i].depth == 1 && outer->address == c->inlines[i].address && *outer->file)
			return outer->file;
	}
	return c->nr_lines ? c->lines[0].file : other;
}

/* Returns the file of the function that has a frame at an address, not of one that is inlined there, or other if it is unknown. */
static const char *source_file_of_code(struct locator *l, const struct code *c, uint64_t address, const char *other)
{
	uint64_t at;
	struct elf_object *elf = c->kind == CODE_LOAD ? NULL : elf_object_at(l, c, address, &at);

	return elf ? source_file_of_function(elf, at, other) : file_of_load(c, other);
}

/* Returns the name of a code object. For a LOAD it is the JIT's own name, with V8's mark of the tier. Else it is the function's name. */
static const char *name_of_object(const struct locator *l, const struct code *c, const struct location *at)
{
	return c->kind == CODE_LOAD && l->a->function[at->function].symbol ? c->name : l->a->function[at->function].name;
}

static const char *name_of_inlined_function(struct locator *l, const struct location *in, const struct elf_inline *f)
{
	uint32_t i = get_function(l, strdup(f->name), in->image, true, in->jit, NULL); /* this may move the array of functions */

	return l->a->function[i].name;
}

/* Finds the components of host_levels.h for code in an ELF object.  If a function is inlined at the address, the innermost one counts, and
 * the line there is in its file.  Else the function's file is that of its own first line. */
static void find_host_levels_in_elf(struct locator *l, const struct code *c, uint64_t address, struct location *out)
{
	const struct line *line = &l->a->line[out->line];
	const char *function = l->a->function[out->function].name;
	struct host_place place = { function, function, line->file, line->file, line->number, line->number };
	struct elf_inline inlined[INLINES_MAX];
	uint64_t at;
	struct elf_object *elf = elf_object_at(l, c, address, &at);

	if (!elf || !l->a->function[out->function].symbol || host_name_is_of_interpreter(function))
		return;
	if (find_inlines(l, c, address, inlined))
		place.function = name_of_inlined_function(l, out, &inlined[0]);
	else
		place.file = source_file_of_function(elf, at, line->file);
	host_components_find(l->a, &l->host, c, &place, &out->low, &out->object);
}

static void find_host_levels_in_load(struct locator *l, const struct code *c, uint64_t address, struct location *out)
{
	const struct line *line = &l->a->line[out->line];
	const char *object = name_of_object(l, c, out);
	struct host_place place = { object, object, file_of_load(c, ""), line->file, line->number, c->nr_lines ? c->lines[0].line : 0 };
	struct elf_inline inlined[INLINES_MAX];

	if (host_name_is_of_interpreter(object))
		return;
	if (find_inlines(l, c, address, inlined)) {
		place.function = name_of_inlined_function(l, out, &inlined[0]);
		place.file = line->file;
	}

	host_components_find(l->a, &l->host, c, &place, &out->low, &out->object);
}

/* Adds a location for each function inlined at an address, from the function that has a frame inwards.  Each has the line where it calls
 * the next one, and the innermost has the line of the address.  outer: location of the address without inlined functions.  Returns the
 * innermost location, or outer if none is inlined there. */
static uint32_t add_inlined_locations(struct locator *l, const struct process *p, const struct code *c, uint64_t address, uint32_t outer)
{
	struct location new, whole = l->location[outer];
	struct elf_inline inlined[INLINES_MAX];
	size_t nr = find_inlines(l, c, address, inlined);

	if (nr == 0)
		return outer;
	/* The frame's own function gets a second location, because its line is that of a call here, but that of the address in `whole`. */
	new = whole;
	outer = 0;
	for (size_t i = nr + 1; i > 0; i--) {
		uint32_t added;

		new.outer = outer;
		if (i <= nr) {
			new.function = get_function(l, strdup(inlined[i - 1].name), whole.image, true, whole.jit, NULL);
			note_declaration(l, new.function, &inlined[i - 1].declared);
		}
		if (i > 1) {
			const struct elf_inline *call = &inlined[i - 2];

			new.line = call->call_line ? get_line(l, c, call->call_file, call->call_line, whole.jit) : 0;
			new.component = whole.jit ? component_of_line(l, p, c, call->call_file, call->call_line) : COMPONENT_NONE;
			new.before = new.after = COMPONENT_NONE;
			if (c->host_levels) {
				struct host_place place = { name_of_object(l, c, &whole), l->a->function[new.function].name,
					call->call_file, call->call_file, call->call_line, call->call_line };

				if (i > nr) {
					place.function = place.object;
					place.file = source_file_of_code(l, c, address, call->call_file);
				}
				host_components_find(l->a, &l->host, c, &place, &new.low, &new.object);
			}
		} else {
			new.line = whole.line;
			new.low = whole.low;
			new.component = whole.component;
			new.before = whole.before;
			new.after = whole.after;
		}
		added = add_location(l, &new);
		if (!added)
			break;
		outer = added;
	}
	return outer;
}

/* Locations are found by an address of one code object, or by the place in a file, for all images that are alike. */
struct location_key {
	uint64_t code, address;
};

static struct location_key key_of_location(const struct code *c, uint64_t address)
{
	if (code_is_alike_at(c, address))
		return (struct location_key){ (uint64_t)c->text.number << 1 | 1, address - c->text.bias };
	return (struct location_key){ (uint64_t)c->number << 1, address };
}

static uint32_t find_or_add_location(struct locator *l, const struct process *p, const struct code *code, uint64_t address)
{
	struct location new = { 0 };
	struct location_key key;
	uint32_t i;

	if (!code)
		return l->unknown;
	key = key_of_location(code, address);
	i = hash_map_find(&l->by_address, key.code, key.address);
	if (i)
		return i;
	if (code->kind == CODE_LOAD || code->kind == CODE_REGION)
		locate_in_loaded_code(l, p, code, address, &new);
	else
		locate_in_elf(l, p, code, address, &new);
	if (new.jit)
		l->a->function[new.function].maker = makers_find(&l->makers, l->a->model, p, code);
	if (code->host_levels && !l->without_host_levels && !new.component && !new.before && !new.after) {
		if (code->kind == CODE_LOAD)
			find_host_levels_in_load(l, code, address, &new);
		else
			find_host_levels_in_elf(l, code, address, &new);
	}
	i = add_location(l, &new);
	if (i)
		hash_map_set(&l->by_address, key.code, key.address, i);
	return i;
}

uint32_t locate_address_number(struct locator *l, const struct process *p, const struct code *code, uint64_t address)
{
	return find_or_add_location(l, p, code, address);
}

const struct location *locate_code_address(struct locator *l, const struct process *p, const struct code *code, uint64_t address)
{
	uint32_t i = find_or_add_location(l, p, code, address); /* this may move the array of locations */

	return &l->location[i];
}

const struct location *locate_with_inlines(struct locator *l, const struct process *p, const struct code *code, uint64_t address)
{
	uint32_t i = find_or_add_location(l, p, code, address);

	if (i && code && !l->location[i].inner) {
		uint32_t inner = add_inlined_locations(l, p, code, address, i);

		l->location[i].inner = inner ? inner : i;
	}
	return &l->location[i && code ? l->location[i].inner : i];
}
