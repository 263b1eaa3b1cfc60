/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_stored.h"

#include "jitreg/engines/postgres_names.h"
#include "jitreg/engines/postgres_read.h"
#include "jitreg/engines/sql_out.h"

#include <string.h>

#define BLOCK "inline_code_block" /* signature that the server gives a block of DO */
#define NOT_TRIGGER 2 /* enum PLpgSQL_trigtype: 0 and 1 are triggers of tables and of events */
#define ID_KIND 0x66756e6374696f6eull /* distinguishes a function's number from other hashes with the same salt */

/* Is this text a function's name with the types of its arguments, as format_procedure() writes it? */
static bool is_signature(const char *text, size_t bytes)
{
	if (bytes < 3 || text[bytes - 1] != ')' || !strchr(text, '('))
		return false;
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return false;
	return true;
}

bool postgres_stored_name(const struct postgres_reader *r, uint64_t address, char name[POSTGRES_NAME_BYTES])
{
	struct sql_out o = { .text = name, .room = POSTGRES_NAME_BYTES };
	char signature[POSTGRES_NAME_BYTES];
	uint64_t at = address & 7 ? 0 : postgres_read_u64(r, address, r->layout->stored_signature);
	bool cut;
	size_t bytes = at ? postgres_read_text(r, at, signature, sizeof(signature), &cut) : 0;

	if (!bytes || cut || (strcmp(signature, BLOCK) != 0 && !is_signature(signature, bytes)))
		return false;
	*name = 0;
	if (strcmp(signature, BLOCK) == 0) {
		sql_out_text(&o, "DO block");
	} else {
		sql_out_text(&o, postgres_read_u32(r, address, r->layout->stored_trigger) < NOT_TRIGGER ? "Trigger " : "Function ");
		sql_out_text(&o, signature);
	}
	sql_out_end(&o);
	return true;
}

uint64_t postgres_stored_id(uint64_t salt, const char *name)
{
	uint64_t hash = postgres_hash(salt ^ ID_KIND, name, strlen(name));

	return hash ? hash : 1;
}
