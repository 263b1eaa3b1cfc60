/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_utility.h"

#include "jitreg/engines/postgres_read.h"

#include <string.h>

#define WORD_BYTES 16
#define STATEMENTS_MAX 4 /* statements of a portal that are looked at: the rules of a table may rewrite one into several */

/* Statements that begin with these words are left out. */
static const char *const left_out[] = { "abort",    "begin",   "close",   "commit",  "deallocate", "declare", "discard", "end",
					"execute",  "explain", "fetch",	  "listen",  "load",	   "move",    "notify",	 "prepare",
					"release",  "reset",   "rollback", "savepoint", "set",	   "show",    "start",	 "unlisten" };

static bool is_left_out(const char *text)
{
	char word[WORD_BYTES];
	size_t n = 0;

	for (; n < sizeof(word) - 1 && ((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z'); n++)
		word[n] = (char)(text[n] | 32);
	word[n] = 0;
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (strcmp(word, left_out[i]) == 0)
			return true;
	return false;
}

enum postgres_end postgres_utility_read(const struct postgres_reader *r, uint64_t statement, uint64_t text, struct postgres_query *q)
{
	const struct postgres_layout *l = r->layout;
	int32_t at = (int32_t)postgres_read_u32(r, statement, l->statement_location);
	int32_t bytes = (int32_t)postgres_read_u32(r, statement, l->statement_bytes);
	char begin[WORD_BYTES];

	*q = (struct postgres_query){ .address = statement, .statement = statement, .text = text };
	if (!statement || statement & 7 || !text || postgres_read_u32(r, statement, 0) != l->tag_statement ||
	    !postgres_read_u64(r, statement, l->statement_utility))
		return POSTGRES_NO_QUERY;
	q->part_at = at > 0 ? (uint32_t)at : 0;
	q->part_bytes = at >= 0 && bytes > 0 ? (uint32_t)bytes : 0;
	return postgres_query_text(r, q, begin, sizeof(begin)) && !is_left_out(begin) ? POSTGRES_OK : POSTGRES_NO_QUERY;
}

enum postgres_end postgres_utility_of_portal(const struct postgres_reader *r, uint64_t portal, struct postgres_query *q)
{
	uint64_t statements = postgres_read_u64(r, portal, r->layout->portal_statements);
	uint64_t text = postgres_read_u64(r, portal, r->layout->portal_text);
	uint32_t nr = postgres_list_nr(r, statements, r->layout->tag_list);

	for (uint32_t i = 0; i < nr && i < STATEMENTS_MAX; i++)
		if (postgres_utility_read(r, postgres_list_element(r, statements, i), text, q) == POSTGRES_OK)
			return POSTGRES_OK;
	return POSTGRES_NO_QUERY;
}
