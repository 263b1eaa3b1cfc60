/* SPDX-License-Identifier: MIT */
#include "analyzer/symbols/java_names.h"

#include "jitreg/base/grow.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_DIGITS_MIN 8

/* A name that contains a hidden class consists of a base, a separator, the class's address, and the rest. */
struct hidden_name {
	char **name;
	size_t base_bytes, rest; /* rest: offset in the name */
	uint64_t address;
	uint32_t process;
};

/* Is text a type, such as "void", "int[]" or "java.util.List"? */
static bool is_type(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._$[]/", text[i]))
			return false;
	return bytes > 0 && isalpha((unsigned char)*text);
}

/* Replaces "TYPE PACKAGE.CLASS.METHOD(TYPES)", as the JVM writes it into perf maps, by "PACKAGE.CLASS.METHOD". */
static void drop_signature(char *name)
{
	char *blank = strchr(name, ' '), *open = blank ? strchr(blank, '(') : NULL, *dot;
	size_t bytes = strlen(name);

	if (!open || name[bytes - 1] != ')' || !is_type(name, (size_t)(blank - name)))
		return;
	*open = 0;
	dot = strchr(blank, '.');
	if (dot && !strstr(blank, "::") && !strchr(blank + 1, ' ')) {
		memmove(name, blank + 1, strlen(blank + 1) + 1);
		return;
	}
	*open = '(';
}

static bool find_address(const char *name, struct hidden_name *out)
{
	for (const char *at = strstr(name, "0x"); at; at = strstr(at + 2, "0x")) {
		size_t digits = strspn(at + 2, "0123456789abcdef");

		if (at - name < 2 || !strchr("./+", at[-1]) || digits < ADDRESS_DIGITS_MIN || (at[2 + digits] && at[2 + digits] != '.'))
			continue;
		out->base_bytes = (size_t)(at - 1 - name);
		out->rest = (size_t)(at + 2 + digits - name);
		out->address = strtoull(at + 2, NULL, 16);
		return memchr(name, '$', out->base_bytes) != NULL; /* the name of each hidden class has a '$' */
	}
	return false;
}

bool java_names_add(struct java_names *j, char **name, uint32_t process)
{
	struct hidden_name new = { .name = name, .process = process };

	if (!*name)
		return true;
	drop_signature(*name);
	if (!find_address(*name, &new))
		return true;
	if (!ARRAY_PUSH(*j, new))
		return false;
	return true;
}

static int compare_classes(const struct hidden_name *x, const struct hidden_name *y)
{
	size_t shorter = x->base_bytes < y->base_bytes ? x->base_bytes : y->base_bytes;
	int order = memcmp(*x->name, *y->name, shorter);

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return order ? order : (x->base_bytes > y->base_bytes) - (x->base_bytes < y->base_bytes);
}

static int by_class_and_address(const void *a, const void *b)
{
	const struct hidden_name *x = a, *y = b;
	int order = compare_classes(x, y);

	return order ? order : (x->address > y->address) - (x->address < y->address);
}

static bool ends_with_number(const char *base, size_t bytes)
{
	size_t at = bytes;

	while (at > 0 && isdigit((unsigned char)base[at - 1]))
		at--;
	return at < bytes && at > 0 && base[at - 1] == '$';
}

static char *readable(const struct hidden_name *h, uint32_t number)
{
	char *name = NULL;
	int ret;

	if (ends_with_number(*h->name, h->base_bytes))
		ret = asprintf(&name, "%.*s%s", (int)h->base_bytes, *h->name, *h->name + h->rest);
	else
		ret = asprintf(&name, "%.*s$%u%s", (int)h->base_bytes, *h->name, number, *h->name + h->rest);
	return ret < 0 ? NULL : name;
}

/* Makes all new names before any is replaced, since the old ones are compared with each other. */
static bool make_names(const struct java_names *j, char **name)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < j->nr; i++) {
		if (i == 0 || compare_classes(&j->at[i - 1], &j->at[i]))
			number = 1;
		else
			number += j->at[i - 1].address != j->at[i].address;
		name[i] = readable(&j->at[i], number);
		if (!name[i])
			return false;
	}
	return true;
}

bool java_names_settle(struct java_names *j)
{
	char **name = calloc((size_t)j->nr + 1, sizeof(*name));
	bool ok;

	if (j->nr)
		qsort(j->at, j->nr, sizeof(*j->at), by_class_and_address);
	ok = name && make_names(j, name);
	for (uint32_t i = 0; name && i < j->nr; i++) {
		free(ok ? *j->at[i].name : name[i]);
		if (ok)
			*j->at[i].name = name[i];
	}
	free(name);
	free(j->at);
	*j = (struct java_names){ 0 };
	return ok;
}
