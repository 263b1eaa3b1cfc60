/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_HALF (1ull << 63) /* below are a processor's own variables, by offset */
#define NAME_MAX_BYTES 1024u /* the kernel's KSYM_NAME_LEN is 512 */
#define MODULE_MAX_BYTES 128u
#define SYMBOLS_MAX (1u << 23)
#define TEXT_MAX (1u << 29)
#define BUFFER_BYTES 65536u
#define FUNCTION_MAX (1u << 20) /* a longer one ends where code ends, not where the next symbol is */
#define PAGE_BYTES 4096u

struct kallsyms_symbol {
	uint64_t address;
	uint32_t name, module; /* in the text */
	char type;
};

static bool grow(void **array, size_t *capacity, size_t wanted, size_t each)
{
	size_t more = *capacity ? *capacity : 4096;
	void *bigger;

	if (wanted <= *capacity)
		return true;
	while (more < wanted)
		more *= 2;
	bigger = realloc(*array, more * each);
	if (!bigger)
		return false;
	*array = bigger;
	*capacity = more;
	return true;
}

/* As much as has no blank and no control character in it. */
static size_t word_bytes(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && (unsigned char)*p > ' ' && *p != 0x7f)
		p++;
	return (size_t)(p - at);
}

static uint32_t put_text(struct kallsyms *k, const char *text, size_t bytes)
{
	uint32_t at = (uint32_t)k->text_bytes;

	memcpy(k->text + at, text, bytes);
	k->text[at + bytes] = 0;
	k->text_bytes += bytes + 1;
	return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static bool take_address(const char **at, const char *end, uint64_t *address)
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

	if (k->settled || !take_address(&at, end, &address))
		return;
	at = skip_blanks(at, end);
	if (end - at < 3 || !isalpha((unsigned char)*at) || at[1] != ' ')
		return;
	type = *at;
	name = skip_blanks(at + 1, end);
	name_bytes = word_bytes(name, end);
	module = skip_blanks(name + name_bytes, end);
	module_bytes = word_bytes(module, end);
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
	if (address < KERNEL_HALF || k->nr == SYMBOLS_MAX || k->text_bytes > TEXT_MAX)
		return;
	if (!grow((void **)&k->symbol, &k->capacity, k->nr + 1, sizeof(*k->symbol)) ||
	    !grow((void **)&k->text, &k->text_capacity, k->text_bytes + name_bytes + module_bytes + 2, 1)) {
		k->no_memory = true;
		return;
	}
	k->symbol[k->nr].address = address;
	k->symbol[k->nr].type = type;
	k->symbol[k->nr].name = put_text(k, name, name_bytes);
	k->symbol[k->nr++].module = put_text(k, module, module_bytes);
}

int kallsyms_read(struct kallsyms *k, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	bool too_long = false; /* within a line that is passed over */
	size_t nr = 0;
	ssize_t got;
	char *buffer;

	if (fd < 0)
		return -errno;
	buffer = malloc(BUFFER_BYTES);
	if (!buffer) {
		close(fd);
		return -ENOMEM;
	}
	while ((got = read(fd, buffer + nr, BUFFER_BYTES - nr)) != 0) {
		const char *at = buffer, *end, *line_end;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			error = errno;
			break;
		}
		end = buffer + nr + got;
		for (; (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1) {
			if (!too_long)
				kallsyms_add_line(k, at, (size_t)(line_end - at));
			too_long = false;
		}
		nr = (size_t)(end - at);
		if (nr == BUFFER_BYTES) {
			too_long = true;
			nr = 0;
		}
		memmove(buffer, at, nr);
	}
	if (nr && !too_long && !error)
		kallsyms_add_line(k, buffer, nr);
	free(buffer);
	close(fd);
	return error ? -error : k->no_memory ? -ENOMEM : 0;
}

static bool is_code(const struct kallsyms_symbol *s)
{
	return s->type == 't' || s->type == 'T' || s->type == 'w' || s->type == 'W';
}

/* Of several at one address the code comes first, and of that the last in the file: so does perf (symbols__fixup_end() leaves the others
 * without bytes), and it is __x64_sys_read then and not __ia32_sys_read. */
static int by_address(const void *x, const void *y)
{
	const struct kallsyms_symbol *a = x, *b = y;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (is_code(a) != is_code(b))
		return is_code(a) ? -1 : 1;
	return a->name > b->name ? -1 : a->name < b->name;
}

bool kallsyms_find(struct kallsyms *k, uint64_t address, struct kallsyms_function *out)
{
	size_t low = 0, high, first, next;
	const struct kallsyms_symbol *s;

	if (!k->settled && k->nr)
		qsort(k->symbol, k->nr, sizeof(*k->symbol), by_address);
	k->settled = true;
	for (high = k->nr; low < high;) { /* the first that begins behind address */
		size_t mid = low + (high - low) / 2;

		if (k->symbol[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	next = low;
	for (first = low - 1; first > 0 && k->symbol[first - 1].address == k->symbol[low - 1].address;)
		first--;
	s = &k->symbol[first];
	out->address = s->address;
	out->bytes = next < k->nr ? k->symbol[next].address - s->address : UINT64_MAX;
	if (out->bytes > FUNCTION_MAX)
		out->bytes = PAGE_BYTES - s->address % PAGE_BYTES;
	out->name = k->text + s->name;
	out->module = k->text + s->module;
	return is_code(s) && address - s->address < out->bytes;
}

uint64_t kallsyms_address(const struct kallsyms *k, const char *name)
{
	for (size_t i = 0; i < k->nr; i++)
		if (strcmp(k->text + k->symbol[i].name, name) == 0)
			return k->symbol[i].address;
	return 0;
}

void kallsyms_fini(struct kallsyms *k)
{
	free(k->symbol);
	free(k->text);
	memset(k, 0, sizeof(*k));
}
