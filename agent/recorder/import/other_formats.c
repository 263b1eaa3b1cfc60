/* SPDX-License-Identifier: MIT */
#include "agent/recorder/import/other_formats.h"

#include "agent/recorder/import/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TAR_MAGIC_AT 257u
#define LOOKED_BYTES 512u /* beginning of a file in which text is recognized */

/* The formats in which people pass on a perf.data file.  unpack: the command that writes the content to standard output. */
static const struct packed_format {
	const char *magic;
	uint32_t bytes, at;
	const char *name, *unpack, *unpack_tar;
} packed_formats[] = {
	{ "\x1f\x8b", 2, 0, "compressed by gzip", "zcat", "tar xzOf" },
	{ "\xfd" "7zXZ", 5, 0, "compressed by xz", "xzcat", "tar xJOf" },
	{ "\x28\xb5\x2f\xfd", 4, 0, "compressed by zstd", "zstdcat", "tar --zstd -xOf" },
	{ "BZh", 3, 0, "compressed by bzip2", "bzcat", "tar xjOf" },
	{ "\x04\x22\x4d\x18", 4, 0, "compressed by lz4", "lz4cat", NULL },
	{ "PK\x03\x04", 4, 0, "a zip archive", "unzip -p", NULL },
	{ "ustar", 5, TAR_MAGIC_AT, "a tar archive", NULL, "tar xOf" },
};

static bool begins_with(const unsigned char *bytes, uint64_t size, uint64_t at, const char *text, uint64_t nr)
{
	return at < size && nr <= size - at && memcmp(bytes + at, text, nr) == 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), tail = strlen(end);

	return bytes >= tail && strcmp(text + bytes - tail, end) == 0;
}

/* Does the name of a compressed file say that a tar archive is inside? */
static bool is_named_as_tar(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strstr(name, ".tar.") || ends_with(name, ".tgz") || ends_with(name, ".txz") || ends_with(name, ".tzst") ||
	       ends_with(name, ".tbz") || ends_with(name, ".tbz2");
}

static int refuse_packed(const struct packed_format *f, const char *path, struct diag *d)
{
	const bool is_input = strcmp(path, IMPORT_STANDARD_INPUT) == 0;
	const bool tar = f->unpack_tar && (!f->unpack || is_named_as_tar(path));

	if (is_input)
		return diag_fail(d, EBADMSG, "standard input is %s: unpack it first, as with `%s`", f->name,
				 tar ? "tar xO perf.data" : f->unpack);
	if (tar)
		return diag_fail(d, EBADMSG, "%s is %s: `%s %s perf.data | tailor import -o t.tlr -` imports the perf.data in it (of what "
				 "`perf archive` packs, import the perf.data beside it: the archive has the sampled files, for ~/.debug)",
				 path, f->unpack ? "a tar archive" : f->name, f->unpack_tar, path);
	return diag_fail(d, EBADMSG, "%s is %s: `%s %s | tailor import -o t.tlr -` imports it", path, f->name, f->unpack, path);
}

static bool is_text(const unsigned char *bytes, uint64_t size)
{
	uint64_t nr = size < LOOKED_BYTES ? size : LOOKED_BYTES;

	for (uint64_t i = 0; i < nr; i++)
		if (bytes[i] < ' ' && !isspace(bytes[i]))
			return false;
	return nr > 0;
}

int import_refuse_other_format(const unsigned char *bytes, uint64_t size, const char *path, struct diag *d)
{
	const char *name = strcmp(path, IMPORT_STANDARD_INPUT) == 0 ? "standard input" : path;

	for (size_t i = 0; i < sizeof(packed_formats) / sizeof(packed_formats[0]); i++)
		if (begins_with(bytes, size, packed_formats[i].at, packed_formats[i].magic, packed_formats[i].bytes))
			return refuse_packed(&packed_formats[i], path, d);
	if (begins_with(bytes, size, 0, "SIMPLEPERF", 10))
		return diag_fail(d, EBADMSG, "%s is what `simpleperf report-sample` writes; import the perf.data that it was made from",
				 name);
	if (size >= 8 && memcmp(bytes, "TLRC", 4) == 0)
		return diag_fail(d, EBADMSG, "%s is a trace already: `tailor report %s` reads it", name, path);
	if (is_text(bytes, size))
		return diag_fail(d, EBADMSG, "%s is text, as `perf script` and `perf report` write it, without mappings and binary stacks; "
				 "import the perf.data that it was made from", name);
	return diag_fail(d, EBADMSG, "%s is not a perf.data file", name);
}
