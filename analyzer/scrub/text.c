/* SPDX-License-Identifier: MIT */
#include "analyzer/scrub/scrub.h"

#include "analyzer/attribute/host_names.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

#define PATH_BYTES_MAX 4096

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '@' || c == '!' || c == '#' || c == '$' || c == '.';
}

/* Returns the length of the number at the start of text, or 0 if there is none.  before: the character in front of it.  A part of a word
 * and a label ("12:") are not numbers. */
static size_t bytes_of_number_at(const char *text, size_t bytes, char before)
{
	size_t n = 0, digits = 0;

	if (is_word(before) || !bytes || !isdigit((unsigned char)*text))
		return 0;
	while (n < bytes && (isxdigit((unsigned char)text[n]) || text[n] == '.' || text[n] == 'x' || text[n] == 'X' ||
			     ((text[n] == '+' || text[n] == '-') && n && (text[n - 1] == 'e' || text[n - 1] == 'E'))))
		digits += isdigit((unsigned char)text[n++]) != 0;
	if (n < bytes && (is_word(text[n]) || text[n] == ':'))
		return 0;
	return digits ? n : 0;
}

size_t scrub_literals(char *text, size_t bytes, bool numbers)
{
	size_t from = 0, to = 0;

	while (from < bytes) {
		char c = text[from], before = from ? text[from - 1] : ' ';
		size_t number = numbers ? bytes_of_number_at(text + from, bytes - from, before) : 0;

		if (number) {
			text[to++] = '0';
			from += number;
			continue;
		}
		if (c == '\'' || c == '"') {
			size_t end = from + 1;

			/* The string ends at the next such quote on the same line, but a doubled quote, or one behind a backslash, is part
			 * of it. */
			while (end < bytes && text[end] != '\n' && (text[end] != c || (end + 1 < bytes && text[end + 1] == c)))
				end += text[end] == c || (text[end] == '\\' && end + 1 < bytes && text[end + 1] != '\n') ? 2 : 1;
			if (end < bytes && text[end] == c) {
				text[to++] = c;
				if (end > from + 1)
					text[to++] = '?';
				text[to++] = c;
				from = end + 1;
				continue;
			}
		}
		text[to++] = c;
		from++;
	}
	return to;
}

size_t scrub_path(char *text, size_t bytes)
{
	size_t base = 0;

	for (size_t i = 0; i < bytes; i++)
		if (text[i] == '/')
			base = i;
	if (base == 0)
		return bytes;
	memmove(text, text + base, bytes - base);
	if (text[0] == '/' && bytes - base == 1)
		return 1;
	return bytes - base;
}

/* Returns the index of the slash at which a path begins, or bytes if there is none.  The slash is the first character, or behind one that
 * is no letter, digit or one of . _ - and /. */
static size_t find_path(const char *text, size_t bytes)
{
	size_t at = 0;

	while (at < bytes && (text[at] != '/' || (at && (isalnum((unsigned char)text[at - 1]) || strchr("._-/", text[at - 1])))))
		at++;
	return at;
}

size_t scrub_paths_in(char *text, size_t bytes)
{
	size_t to = 0;

	for (size_t from = 0; from < bytes;) {
		size_t end = from;

		while (end < bytes && !isspace((unsigned char)text[end]))
			end++;
		if (end > from) { /* these bytes are a word */
			size_t path = find_path(text + from, end - from);

			memmove(text + to, text + from, end - from);
			to += path + scrub_path(text + to + path, end - from - path);
		}
		if (end < bytes)
			text[to++] = text[end++];
		from = end;
	}
	return to;
}

size_t scrub_name(char *text, size_t bytes)
{
	struct host_name n;
	size_t path;

	text[bytes] = 0;
	host_name_split(text, &n);
	path = n.module_bytes ? (size_t)(n.module - text) : find_path(text, bytes);
	if (strncmp(text + path, "node:", 5) == 0) /* a module of Node itself, which has no directory to hide */
		return bytes;
	return path + scrub_path(text + path, bytes - path);
}

/* Returns whether the bytes look like a compressed section. Such a section begins with an Elf64_Chdr and zlib's header or zstd's magic
 * number, or, in the older form, with "ZLIB". */
static bool is_compressed(const char *bytes, size_t nr)
{
	Elf64_Chdr h;
	bool zlib, zstd;

	if (nr < sizeof(h) + 4)
		return nr > 12 && memcmp(bytes, "ZLIB", 4) == 0;
	memcpy(&h, bytes, sizeof(h));
	zlib = h.ch_type == 1 && (bytes[sizeof(h)] & 0x0f) == 8;
	zstd = h.ch_type == 2 && memcmp(bytes + sizeof(h), "\x28\xb5\x2f\xfd", 4) == 0;
	return ((zlib || zstd) && h.ch_reserved == 0) || memcmp(bytes, "ZLIB", 4) == 0;
}

/* Returns whether the last part of a path is the name of a source file, by its extension, so that it is no directory. */
static bool is_source_file(const char *name, size_t bytes)
{
	static const char *const ends[] = { "c",  "C",	"cc", "cpp", "cxx", "h",  "hh", "hpp", "hxx", "inc", "ipp", "s", "S",
					    "rs", "go", "zig", "f90", "swift", "java", "kt", "js", "ts", "py", "php", "rb", "ll" };
	const char *dot = memrchr(name, '.', bytes);
	size_t end = dot ? (size_t)(name + bytes - dot - 1) : 0;

	for (size_t i = 0; dot && dot > name && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strlen(ends[i]) == end && memcmp(dot + 1, ends[i], end) == 0)
			return true;
	return false;
}

void scrub_strings(char *bytes, size_t nr)
{
	if (is_compressed(bytes, nr)) {
		memset(bytes, 0, nr);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		size_t end = i, name = i, slashes = 0;
		bool is_source;

		/* A string begins at a printable character at the start, or behind a NUL.  It is a path if it is printable up to the NUL at
		 * its end, and has a second slash behind a first one, or any slash and the name of a source file. */
		if (!isprint((unsigned char)bytes[i]) || (i && bytes[i - 1]))
			continue;
		while (end < nr && end - i < PATH_BYTES_MAX && isprint((unsigned char)bytes[end]))
			if (bytes[end++] == '/') {
				slashes++;
				name = end;
			}
		is_source = is_source_file(bytes + name, end - name);
		if (end < nr && !bytes[end] && (bytes[i] == '/' ? slashes > 1 : slashes && is_source))
			for (size_t n = i; n < (is_source ? name : end); n++)
				bytes[n] = bytes[n] == '/' ? '/' : 'x';
		i = end - 1;
	}
}

void scrub_elf_code(char *bytes, size_t nr)
{
	static const char *const constants[] = { ".rodata", ".lrodata", ".data", ".ldata" };
	Elf64_Ehdr head;
	Elf64_Shdr names, section;

	if (nr < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(section) || head.e_shoff > nr ||
	    head.e_shnum > (nr - head.e_shoff) / sizeof(section) || head.e_shstrndx >= head.e_shnum)
		return;
	memcpy(&names, bytes + head.e_shoff + head.e_shstrndx * sizeof(section), sizeof(names));
	for (size_t i = 0; i < head.e_shnum; i++) {
		bool drop;

		memcpy(&section, bytes + head.e_shoff + i * sizeof(section), sizeof(section));
		drop = section.sh_flags & SHF_EXECINSTR;
		for (size_t c = 0; c < sizeof(constants) / sizeof(constants[0]); c++) {
			size_t length = strlen(constants[c]);

			drop |= names.sh_offset < nr && section.sh_name < nr - names.sh_offset &&
				length <= nr - names.sh_offset - section.sh_name &&
				memcmp(bytes + names.sh_offset + section.sh_name, constants[c], length) == 0;
		}
		if (drop && section.sh_type != SHT_NOBITS && section.sh_offset <= nr && section.sh_size <= nr - section.sh_offset)
			memset(bytes + section.sh_offset, 0, section.sh_size);
	}
}
