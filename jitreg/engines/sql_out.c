/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/sql_out.h"

#include <string.h>

void sql_out_bytes(struct sql_out *o, const char *text, size_t bytes)
{
	if (bytes > o->room - 1 - o->at) {
		bytes = o->room - 1 - o->at;
		o->is_cut = true;
	}
	memcpy(o->text + o->at, text, bytes);
	o->at += bytes;
	o->text[o->at] = 0;
}

void sql_out_text(struct sql_out *o, const char *text)
{
	sql_out_bytes(o, text, strlen(text));
}

void sql_out_number(struct sql_out *o, uint64_t value, int min_digits)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value || (int)(sizeof(digits) - at) < min_digits);
	sql_out_bytes(o, digits + at, sizeof(digits) - at);
}

void sql_out_signed(struct sql_out *o, int64_t value)
{
	if (value < 0)
		sql_out_text(o, "-");
	sql_out_number(o, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
}

static bool is_plain_identifier(const char *name)
{
	const char *c = name;

	if ((*c >= '0' && *c <= '9') || *c == '$')
		return false;
	while ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_' || *c == '$')
		c++;
	return *c == 0 && c != name;
}

void sql_out_identifier(struct sql_out *o, const char *name)
{
	if (is_plain_identifier(name)) {
		sql_out_text(o, name);
		return;
	}
	sql_out_text(o, "\"");
	for (; *name; name++) {
		if (*name == '"')
			sql_out_text(o, "\"");
		sql_out_bytes(o, name, 1);
	}
	sql_out_text(o, "\"");
}

void sql_out_end(struct sql_out *o)
{
	if (!o->is_cut || o->room < 4)
		return;
	o->at = o->at < o->room - 4 ? o->at : o->room - 4;
	while (o->at && (o->text[o->at] & 0xc0) == 0x80)
		o->at--;
	memcpy(o->text + o->at, "...", 4);
	o->at += 3;
}
