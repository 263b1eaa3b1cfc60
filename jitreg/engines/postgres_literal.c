/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_literal.h"

#include "jitreg/engines/postgres_read.h"

#include <string.h>

#define VALUE_BYTES 512u /* how much of a value is read; longer texts are cut */
#define ELEMENTS_MAX 100u
#define DAY_US 86400000000ll
#define DAYS_TO_2000 10957 /* days from 1970-01-01 to 2000-01-01 */
#define DAYS_MAX 3000000   /* about the year 10000 */
#define FLOAT_MAX 1e15

/* These OIDs of types are the same in all servers. */
enum type {
	BOOL = 16, NAME = 19, INT8 = 20, INT2 = 21, INT4 = 23, TEXT = 25, OID = 26, FLOAT4 = 700, FLOAT8 = 701, UNKNOWN = 705,
	BPCHAR = 1042, VARCHAR = 1043, DATE = 1082, TIMESTAMP = 1114, TIMESTAMPTZ = 1184, NUMERIC = 1700,
	INT2_ARRAY = 1005, INT4_ARRAY = 1007, TEXT_ARRAY = 1009, BPCHAR_ARRAY = 1014, VARCHAR_ARRAY = 1015, INT8_ARRAY = 1016,
	DATE_ARRAY = 1182,
};

/* This has the content of a value of variable length, without its header. */
struct value {
	unsigned char bytes[VALUE_BYTES];
	uint32_t nr; /* size of the content, of which bytes has the first VALUE_BYTES */
};

/* Read a value of variable length (struct varlena).  Sets *taken to its size with the header.  Returns false if it is compressed, stored
 * elsewhere, or cannot be read. */
static bool read_variable_value(const struct postgres_reader *r, uint64_t address, struct value *v, uint32_t *taken)
{
	uint32_t header = 0, bytes;

	if (!postgres_read_member(r, address, 0, &header, 1) || header == 1)
		return false;
	if (header & 1) {
		*taken = header >> 1;
		bytes = 1;
	} else {
		if (header & 3 || !postgres_read_member(r, address, 0, &header, sizeof(header)))
			return false;
		*taken = header >> 2;
		bytes = sizeof(header);
	}
	if (*taken < bytes)
		return false;
	v->nr = *taken - bytes;
	return postgres_read_member(r, address + bytes, 0, v->bytes, v->nr < VALUE_BYTES ? v->nr : VALUE_BYTES);
}

static void add_quoted(struct sql_out *o, const char *text, size_t bytes, const char *quote, const char *quoted)
{
	sql_out_text(o, quote);
	for (size_t i = 0; i < bytes; i++)
		if (text[i] == *quote)
			sql_out_text(o, quoted);
		else
			sql_out_bytes(o, text + i, 1);
	sql_out_text(o, quote);
}

/* -------------------------------------------------------------------------------------------------------- numbers */

/* Add a value of type numeric, whose digits have base 10000.  The first one counts 10000^weight.  Returns false, with nothing added, for
 * NaN, infinity and very large numbers or scales. */
static bool add_numeric(const struct value *v, struct sql_out *o)
{
	uint16_t head, scale;
	int32_t weight;
	uint32_t at = 2, nr;
	bool is_negative;

	if (v->nr < 2 || v->nr > VALUE_BYTES)
		return false;
	memcpy(&head, v->bytes, 2);
	if ((head & 0xc000) == 0xc000) /* NaN or infinity */
		return false;
	if (head & 0x8000) {
		is_negative = head & 0x2000;
		scale = (head & 0x1f80) >> 7;
		weight = (head & 0x40 ? -64 : 0) + (head & 0x3f);
	} else {
		int16_t long_weight;

		if (v->nr < 4)
			return false;
		memcpy(&long_weight, v->bytes + 2, 2);
		is_negative = head & 0x4000;
		scale = head & 0x3fff;
		weight = long_weight;
		at = 4;
	}
	nr = (v->nr - at) / 2;
	if (weight > 64 || weight < -64 || scale > 64)
		return false;
	if (is_negative)
		sql_out_text(o, "-");
	if (weight < 0)
		sql_out_text(o, "0");
	for (int32_t i = weight < 0 ? weight + 1 : 0; i <= weight; i++) {
		uint16_t digit = 0;

		if ((uint32_t)i < nr)
			memcpy(&digit, v->bytes + at + 2 * i, 2);
		sql_out_number(o, digit, i ? 4 : 1);
	}
	if (scale)
		sql_out_text(o, ".");
	for (int32_t i = weight + 1; scale; i++) {
		uint16_t digit = 0, digits = scale < 4 ? scale : 4;

		if (i >= 0 && (uint32_t)i < nr)
			memcpy(&digit, v->bytes + at + 2 * i, 2);
		for (uint16_t cut = digits; cut < 4; cut++)
			digit /= 10;
		sql_out_number(o, digit, digits);
		scale -= digits;
	}
	return true;
}

static bool add_float(double value, struct sql_out *o)
{
	double size = value < 0 ? -value : value;
	uint64_t whole, millionths;
	char digits[7] = ".";
	int nr = 6;

	if (!(size < FLOAT_MAX) || (size > 0 && size < 1e-5)) /* this is true for NaN as well */
		return false;
	whole = (uint64_t)size;
	millionths = (uint64_t)((size - (double)whole) * 1e6 + 0.5);
	sql_out_text(o, value < 0 ? "-" : "");
	sql_out_number(o, whole + millionths / 1000000, 1);
	millionths %= 1000000;
	if (!millionths)
		return true;
	for (int i = 6; i > 0; i--, millionths /= 10)
		digits[i] = (char)('0' + millionths % 10);
	while (digits[nr] == '0')
		nr--;
	sql_out_bytes(o, digits, (size_t)nr + 1);
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- time */

/* Add the date that is this number of days after 1970-01-01, in the Gregorian calendar, as year-month-day (H. Hinnant, chrono-compatible
 * low-level date algorithms). */
static void add_civil_date(int64_t days, struct sql_out *o)
{
	int64_t z = days + 719468, era = z / 146097, day_of_era = z - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100), shifted = (5 * day_of_year + 2) / 153;
	int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;

	sql_out_number(o, (uint64_t)(year_of_era + era * 400 + (month <= 2)), 4);
	sql_out_text(o, "-");
	sql_out_number(o, (uint64_t)month, 2);
	sql_out_text(o, "-");
	sql_out_number(o, (uint64_t)(day_of_year - (153 * shifted + 2) / 5 + 1), 2);
}

static bool add_date(int64_t days, struct sql_out *o)
{
	if (days < -700000 || days > DAYS_MAX)
		return false;
	sql_out_text(o, "'");
	add_civil_date(days + DAYS_TO_2000, o);
	sql_out_text(o, "'");
	return true;
}

static bool add_timestamp(int64_t us, bool is_utc, struct sql_out *o)
{
	int64_t days = us / DAY_US - (us % DAY_US < 0), rest = (us - days * DAY_US) / 1000000;

	if (days < -700000 || days > DAYS_MAX)
		return false;
	sql_out_text(o, "'");
	add_civil_date(days + DAYS_TO_2000, o);
	for (int i = 0; i < 3; i++) {
		sql_out_text(o, i ? ":" : " ");
		sql_out_number(o, (uint64_t)(i == 0 ? rest / 3600 : i == 1 ? rest / 60 % 60 : rest % 60), 2);
	}
	sql_out_text(o, is_utc ? "+00'" : "'");
	return true;
}

/* --------------------------------------------------------------------------------------------------------- values */

/* Add a value.  value: the value itself, or for texts and numeric its address.  quote: that of texts.  Sets *taken to the size of a text or
 * numeric.  Returns false, with nothing added, for other types and values that cannot be written. */
static bool add_value(const struct postgres_reader *r, uint32_t type, uint64_t value, const char *quote, struct sql_out *o, uint32_t *taken)
{
	struct value v;
	double real;
	float single;

	switch (type) {
	case BOOL:
		sql_out_text(o, value & 0xff ? "true" : "false");
		return true;
	case INT2:
		sql_out_signed(o, (int16_t)value);
		return true;
	case INT4:
		sql_out_signed(o, (int32_t)value);
		return true;
	case INT8:
		sql_out_signed(o, (int64_t)value);
		return true;
	case OID:
		sql_out_number(o, (uint32_t)value, 1);
		return true;
	case FLOAT4:
		memcpy(&single, &value, sizeof(single));
		return add_float((double)single, o);
	case FLOAT8:
		memcpy(&real, &value, sizeof(real));
		return add_float(real, o);
	case DATE:
		return add_date((int32_t)value, o);
	case TIMESTAMP:
	case TIMESTAMPTZ:
		return add_timestamp((int64_t)value, type == TIMESTAMPTZ, o);
	case TEXT:
	case BPCHAR:
	case VARCHAR:
		if (!read_variable_value(r, value, &v, taken))
			return false;
		add_quoted(o, (const char *)v.bytes, v.nr < VALUE_BYTES ? v.nr : VALUE_BYTES, quote, *quote == '"' ? "\\\"" : "''");
		return true;
	case NUMERIC:
		return read_variable_value(r, value, &v, taken) && add_numeric(&v, o);
	default:
		return false;
	}
}

static uint32_t type_of_elements(uint32_t array)
{
	switch (array) {
	case INT2_ARRAY:
		return INT2;
	case INT4_ARRAY:
		return INT4;
	case INT8_ARRAY:
		return INT8;
	case DATE_ARRAY:
		return DATE;
	case TEXT_ARRAY:
		return TEXT;
	case BPCHAR_ARRAY:
		return BPCHAR;
	case VARCHAR_ARRAY:
		return VARCHAR;
	default:
		return 0;
	}
}

/* Add an array of one dimension without NULLs, '{1,2}', with "..." in place of the elements behind the first ELEMENTS_MAX. Returns false,
 * with nothing added, for other arrays. */
static bool add_array(const struct postgres_reader *r, uint32_t type, uint64_t address, struct sql_out *o)
{
	struct {
		uint32_t bytes, dimensions, data_at, type, nr, first;
	} head;
	uint32_t element = type_of_elements(type);
	uint64_t at = address + sizeof(head);

	if (!element || !postgres_read_member(r, address, 0, &head, sizeof(head)) || head.bytes & 3 || head.dimensions != 1 ||
	    head.data_at || head.type != element)
		return false;
	sql_out_text(o, "'{");
	for (uint32_t i = 0; i < head.nr; i++) {
		uint32_t width = element == INT8 ? 8 : element == INT2 ? 2 : 4, taken = 0;
		const bool is_text = element == TEXT || element == BPCHAR || element == VARCHAR;
		uint64_t value = is_text ? at : 0;

		sql_out_text(o, i ? "," : "");
		if (i == ELEMENTS_MAX || o->is_cut) {
			sql_out_text(o, "...");
			break;
		}
		if (is_text && !postgres_read_u8(r, at, 0)) /* a byte that is 0 is padding in front of a header of four bytes */
			value = at = (at + 3) & ~3ull;
		if (!is_text && !postgres_read_member(r, at, 0, &value, width))
			break;
		if (!add_value(r, element, value, "\"", o, &taken)) {
			sql_out_text(o, "...");
			break;
		}
		at += is_text ? taken : width;
	}
	sql_out_text(o, "}'");
	return true;
}

void postgres_literal(const struct postgres_reader *r, uint64_t address, struct sql_out *o)
{
	const struct postgres_layout *l = r->layout;
	uint32_t type = postgres_read_u32(r, address, l->constant_type), taken;
	uint64_t value = postgres_read_u64(r, address, l->constant_value);
	char name[64];

	if (postgres_read_u8(r, address, l->constant_null)) {
		sql_out_text(o, "NULL");
	} else if (type == UNKNOWN || type == NAME) {
		if (postgres_read_member(r, value, 0, name, sizeof(name)))
			add_quoted(o, name, strnlen(name, sizeof(name)), "'", "''");
	} else if (!add_value(r, type, value, "'", o, &taken) && !add_array(r, type, value, o)) {
		sql_out_text(o, "?");
	}
}
