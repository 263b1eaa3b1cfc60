/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/kallsyms.h"

#include "jitreg/base/sorted.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_HALF (1ull << 63) /* smaller addresses are hidden ones (0), or offsets of a processor's own variables */
#define NAME_MAX_BYTES 1024u /* the kernel's KSYM_NAME_LEN is 512 */
#define MODULE_MAX_BYTES 128u
#define SYMBOLS_MAX (1u << 23)
#define TEXT_MAX (1u << 29)
#define BUFFER_BYTES 65536u
#define FUNCTION_MAX (1u << 20) /* a longer function ends at the end of its page, not at the next symbol */
#define PAGE_BYTES 4096u

struct kallsyms_symbol {
	uint64_t address;
	uint32_t name, module; /* offsets in the text */
	char type;
};

/* Returns the number of bytes of a word, which ends at a blank or a control character. */
static size_t count_word_bytes(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && (unsigned char)*p > ' ' && *p != 0x7f)
		p++;
	return (size_t)(p - at);
}

static uint32_t append_symbol_text(struct kallsyms *k, const char *text, size_t bytes)
{
	uint32_t at = k->text.nr;

	memcpy(k->text.at + at, text, bytes);
	k->text.at[at + bytes] = 0;
	k->text.nr += bytes + 1;
	return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static bool parse_hex_address(const char **at, const char *end, uint64_t *address)
{
	const char *p = *at;

	for (*address = 0; p < end && isxdigit((unsigned char)*p) && p - *at < 16; p++)
		*address = *address << 4 | (uint64_t)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
	if (p == *at || p == end || *p != ' ')
		return false;
	*at = p;
	return true;
}

void kallsyms_add_line(struct kallsyms *k, const char *line, size_t bytes)
{
	const char *at = line, *end = line + bytes, *name, *module;
	size_t name_bytes, module_bytes;
	uint64_t address;
	char type;

	if (k->settled || !parse_hex_address(&at, end, &address))
		return;
	at = skip_blanks(at, end);
	if (end - at < 3 || !isalpha((unsigned char)*at) || at[1] != ' ')
		return;
	type = *at;
	name = skip_blanks(at + 1, end);
	name_bytes = count_word_bytes(name, end);
	module = skip_blanks(name + name_bytes, end);
	module_bytes = count_word_bytes(module, end);
	if (!name_bytes || name_bytes > NAME_MAX_BYTES || module + module_bytes != end || module_bytes > MODULE_MAX_BYTES)
		return;
	if (module_bytes) {
		if (module_bytes < 3 || *module != '[' || end[-1] != ']')
			return;
		module++;
		module_bytes -= 2;
	}
	if (!address)
		k->hidden++;
	if (address < KERNEL_HALF || k->symbols.nr == SYMBOLS_MAX || k->text.nr > TEXT_MAX)
		return;
	if (!ARRAY_GROW(k->symbols) || !ARRAY_RESERVE(k->text, name_bytes + module_bytes + 2)) {
		k->no_memory = true;
		return;
	}
	k->symbols.at[k->symbols.nr].address = address;
	k->symbols.at[k->symbols.nr].type = type;
	k->symbols.at[k->symbols.nr].name = append_symbol_text(k, name, name_bytes);
	k->symbols.at[k->symbols.nr++].module = append_symbol_text(k, module, module_bytes);
}

#define DIGITS 16u /* digits of an address, in each line */
#define GROUP_BYTES 16384u

/* This struct is a filter for the lines that are needed. These are all lines of the last address at or before each wanted one, and one of
 * the next address, at which that function ends. The kernel's own lines come in ascending order, before those of modules. */
struct near {
	char (*wanted)[DIGITS + 1]; /* wanted addresses as text, as in lines */
	size_t nr, at; /* at: index of the first wanted address whose lines were not found yet */
	char address[DIGITS]; /* address of the lines in group */
	char *group; /* the last lines with one address, with their newlines, which are added if they are needed */
	size_t group_bytes;
	bool all; /* all further lines are added, because they are those of modules */
};

static void add_lines_of_group(struct kallsyms *k, struct near *n)
{
	const char *at = n->group, *end = n->group + n->group_bytes, *line_end;

	for (; at < end && (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1)
		kallsyms_add_line(k, at, (size_t)(line_end - at));
	n->group_bytes = 0;
}

/* Adds a line if it is needed.  Returns false if lines are in another order, or too many have one address, so all of them are needed. */
static bool add_line_if_near_wanted(struct kallsyms *k, struct near *n, const char *line, size_t bytes)
{
	bool is_kernel = bytes > DIGITS && line[DIGITS] == ' ' && line[0] > '7' && line[bytes - 1] != ']';
	int order;

	if (!n->all && bytes > DIGITS && line[0] > '7' && line[bytes - 1] == ']') {
		if (n->at < n->nr)
			add_lines_of_group(k, n);
		n->all = true;
	}
	if (n->all || !is_kernel) {
		kallsyms_add_line(k, line, bytes);
		return true;
	}
	order = memcmp(line, n->address, DIGITS);
	if (order < 0)
		return false;
	if (order > 0) {
		if (n->at < n->nr && memcmp(n->wanted[n->at], line, DIGITS) < 0) {
			add_lines_of_group(k, n);
			kallsyms_add_line(k, line, bytes);
		}
		while (n->at < n->nr && memcmp(n->wanted[n->at], line, DIGITS) < 0)
			n->at++;
		n->group_bytes = 0;
		memcpy(n->address, line, DIGITS);
	}
	if (n->at == n->nr)
		return true;
	if (bytes + 1 > GROUP_BYTES - n->group_bytes)
		return false;
	memcpy(n->group + n->group_bytes, line, bytes);
	n->group[n->group_bytes + bytes] = '\n';
	n->group_bytes += bytes + 1;
	return true;
}

/* Reads lines, and adds those that near needs, or all if it is NULL.  Returns 0, -errno, or 1 if all lines have to be read from the
 * beginning. */
static int read_kallsyms_lines(struct kallsyms *k, int fd, char *buffer, struct near *near)
{
	bool too_long = false; /* the line that is being read is too long, and is skipped */
	size_t nr = 0;
	ssize_t got;

	while ((got = read(fd, buffer + nr, BUFFER_BYTES - nr)) != 0) {
		const char *at = buffer, *end, *line_end;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		end = buffer + nr + got;
		for (; (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1) {
			if (!too_long && !near)
				kallsyms_add_line(k, at, (size_t)(line_end - at));
			else if (!too_long && !add_line_if_near_wanted(k, near, at, (size_t)(line_end - at)))
				return 1;
			if (near && !near->all && near->at == near->nr)
				return 0; /* all wanted addresses were found before the modules */
			too_long = false;
		}
		nr = (size_t)(end - at);
		if (nr == BUFFER_BYTES) {
			too_long = true;
			nr = 0;
		}
		memmove(buffer, at, nr);
	}
	if (near && near->at < near->nr)
		add_lines_of_group(k, near);
	if (nr && !too_long)
		kallsyms_add_line(k, buffer, nr);
	return 0;
}

static bool init_near_filter(struct near *n, uint64_t *wanted, size_t nr)
{
	*n = (struct near){ .wanted = malloc((nr + 1) * sizeof(*n->wanted)), .group = malloc(GROUP_BYTES), .nr = nr };
	if (!n->wanted || !n->group)
		return false;
	qsort(wanted, nr, sizeof(*wanted), sorted_by_number);
	for (size_t i = 0; i < nr; i++)
		snprintf(n->wanted[i], sizeof(n->wanted[i]), "%016llx", (unsigned long long)wanted[i]);
	memset(n->address, '0', sizeof(n->address));
	return true;
}

int kallsyms_read_near(struct kallsyms *k, const char *path, uint64_t *wanted, size_t nr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	char *buffer;
	struct near near = { 0 };

	if (fd < 0)
		return -errno;
	buffer = malloc(BUFFER_BYTES);
	if (!buffer || (wanted && !init_near_filter(&near, wanted, nr)))
		ret = -ENOMEM;
	if (ret == 0)
		ret = read_kallsyms_lines(k, fd, buffer, wanted ? &near : NULL);
	if (ret == 1) {
		kallsyms_fini(k);
		ret = lseek(fd, 0, SEEK_SET) < 0 ? -errno : read_kallsyms_lines(k, fd, buffer, NULL);
	}
	free(near.wanted);
	free(near.group);
	free(buffer);
	close(fd);
	return ret ? ret : k->no_memory ? -ENOMEM : 0;
}

int kallsyms_read(struct kallsyms *k, const char *path)
{
	return kallsyms_read_near(k, path, NULL, 0);
}

static bool is_code_symbol(const struct kallsyms_symbol *s)
{
	return s->type == 't' || s->type == 'T' || s->type == 'w' || s->type == 'W';
}

/* If several symbols have one address, code comes first, and of code the last in the file.  perf does the same (symbols__fixup_end() leaves
 * the others without bytes), and the name is __x64_sys_read then and not __ia32_sys_read. */
static int compare_symbols_by_address(const void *x, const void *y)
{
	const struct kallsyms_symbol *a = x, *b = y;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (is_code_symbol(a) != is_code_symbol(b))
		return is_code_symbol(a) ? -1 : 1;
	return a->name > b->name ? -1 : a->name < b->name;
}

bool kallsyms_find_function(struct kallsyms *k, uint64_t address, struct kallsyms_function *out)
{
	size_t low = 0, high, first, next;
	const struct kallsyms_symbol *s;

	if (!k->settled && k->symbols.nr)
		qsort(k->symbols.at, k->symbols.nr, sizeof(*k->symbols.at), compare_symbols_by_address);
	k->settled = true;
	for (high = k->symbols.nr; low < high;) { /* the first symbol that begins after address */
		size_t mid = low + (high - low) / 2;

		if (k->symbols.at[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	next = low;
	for (first = low - 1; first > 0 && k->symbols.at[first - 1].address == k->symbols.at[low - 1].address;)
		first--;
	s = &k->symbols.at[first];
	out->address = s->address;
	out->bytes = next < k->symbols.nr ? k->symbols.at[next].address - s->address : UINT64_MAX;
	if (out->bytes > FUNCTION_MAX)
		out->bytes = PAGE_BYTES - s->address % PAGE_BYTES;
	out->name = k->text.at + s->name;
	out->module = k->text.at + s->module;
	return is_code_symbol(s) && address - s->address < out->bytes;
}

uint64_t kallsyms_find_address(const struct kallsyms *k, const char *name)
{
	for (size_t i = 0; i < k->symbols.nr; i++)
		if (strcmp(k->text.at + k->symbols.at[i].name, name) == 0)
			return k->symbols.at[i].address;
	return 0;
}

void kallsyms_fini(struct kallsyms *k)
{
	free(k->symbols.at);
	free(k->text.at);
	memset(k, 0, sizeof(*k));
}
