/* SPDX-License-Identifier: MIT */
#include "shim/libraries/v8_functions.h"

#include "agent/guest/sys.h"

#include <string.h>

#define FUNCTIONS_MAX 32768u
#define TEXT_BYTES (4u << 20)
#define HEADS 16384u

struct function {
	const void *isolate;
	int script;
	struct v8_range range;
	uintptr_t info;
	uint32_t text; /* offset of its name */
	uint32_t next; /* 1 + index of another function whose name has the same hash modulo HEADS; 0: none */
};

static struct functions {
	uint32_t head[HEADS], nr, text_bytes;
	struct function at[FUNCTIONS_MAX];
	char text[TEXT_BYTES];
} *functions;

bool v8_functions_init(void)
{
	long p = sys_mmap(NULL, sizeof(*functions), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	functions = p < 0 && p > -4096 ? NULL : (struct functions *)p;
	return functions;
}

/* Returns the part of a name behind the tier.  kind_bytes: length of the part in front of it, such as "JS:". */
static const char *behind_tier(const char *name, size_t bytes, size_t *kind_bytes)
{
	const char *end = name + bytes, *at = memchr(name, ':', bytes);

	at = at ? at + 1 : end;
	*kind_bytes = (size_t)(at - name);
	if (end - at > 1 && *at == 'o' && (at[1] == '*' || at[1] == '+')) /* code that took over from a running loop (V8 14) */
		at++;
	while (at < end && memchr("*~^+-'", *at, 6))
		at++;
	return at;
}

void v8_functions_copy_name(char *to, size_t size, const char *name, size_t bytes)
{
	size_t kind;
	const char *rest = behind_tier(name, bytes, &kind);
	size_t rest_bytes = (size_t)(name + bytes - rest);

	kind = kind < size - 1 ? kind : size - 1;
	rest_bytes = rest_bytes < size - 1 - kind ? rest_bytes : size - 1 - kind;
	memcpy(to, name, kind);
	memcpy(to + kind, rest, rest_bytes);
	to[kind + rest_bytes] = 0;
}

/* Returns the list of functions of the same hash. */
static uint32_t *list_of(const char *rest, const char *end)
{
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	for (; rest < end; rest++)
		h = (h ^ (unsigned char)*rest) * 0x100000001b3ull;
	return &functions->head[h % HEADS];
}

static bool has_name(const struct function *f, const char *rest, size_t rest_bytes)
{
	const char *text = functions->text + f->text, *colon = strchr(text, ':');

	return colon && strlen(colon + 1) == rest_bytes && memcmp(colon + 1, rest, rest_bytes) == 0;
}

void v8_functions_add(const struct v8_script *s, const struct v8_range *r, uintptr_t info, const char *name, size_t bytes)
{
	size_t kind;
	const char *rest = behind_tier(name, bytes, &kind);
	size_t rest_bytes = (size_t)(name + bytes - rest);
	uint32_t *list = list_of(rest, name + bytes);

	for (uint32_t i = *list; i; i = functions->at[i - 1].next) {
		struct function *f = &functions->at[i - 1];

		if (f->isolate == s->isolate && f->script == s->id && has_name(f, rest, rest_bytes)) {
			f->range = r->first <= r->last ? *r : f->range;
			f->info = info;
			return;
		}
	}
	if (functions->nr == FUNCTIONS_MAX || kind + rest_bytes + 1 > TEXT_BYTES - functions->text_bytes)
		return;
	functions->at[functions->nr] = (struct function){ s->isolate, s->id, *r, info, functions->text_bytes, *list };
	v8_functions_copy_name(functions->text + functions->text_bytes, kind + rest_bytes + 1, name, bytes);
	functions->text_bytes += (uint32_t)(kind + rest_bytes + 1);
	*list = ++functions->nr;
}

bool v8_functions_range(const char *name, size_t bytes, struct v8_range *out)
{
	size_t kind;
	const char *rest = behind_tier(name, bytes, &kind);

	for (uint32_t i = *list_of(rest, name + bytes); i; i = functions->at[i - 1].next) {
		const struct function *f = &functions->at[i - 1];

		if (f->range.first <= f->range.last && has_name(f, rest, (size_t)(name + bytes - rest))) {
			*out = f->range;
			return true;
		}
	}
	return false;
}

static bool is_inside(const struct v8_range *r, uint32_t position)
{
	return position >= r->first && position <= r->last;
}

const char *v8_functions_find(const struct v8_script *s, uintptr_t info, uint32_t position)
{
	const struct function *found = NULL;

	for (uint32_t i = 0; i < functions->nr; i++) {
		const struct function *f = &functions->at[i];
		bool has_range = f->range.first <= f->range.last;

		if (f->script != s->id || f->isolate != s->isolate || (has_range && !is_inside(&f->range, position)))
			continue;
		if (f->info == info) {
			found = f;
			break;
		}
		if (has_range && (!found || f->range.last - f->range.first < found->range.last - found->range.first))
			found = f;
	}
	return found ? functions->text + found->text : NULL;
}
