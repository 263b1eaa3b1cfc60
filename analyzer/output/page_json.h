/* SPDX-License-Identifier: MIT */
/* Makes the JSON of a page. The objects are jansson's, behind void pointers, so that only the files that write JSON include its headers. If
 * memory runs out, page_json_create() returns NULL, and the others leave out parts of the page. Context: thread. */
#ifndef TAILOR_PAGE_JSON_H
#define TAILOR_PAGE_JSON_H

#include "analyzer/output/page.h"

#include <stdint.h>
#include <stdio.h>

void *page_json_create(void);
void page_json_text(void *page, const char *key, const char *text);
void page_json_number(void *page, const char *key, double value);
void page_json_note(void *page, const char *sentence);
/* page_json_table() adds a table without rows, unless the page has it. page_json_row() returns a new row of a table, whose cells the
 * functions with _cell_ set. */
void page_json_table(void *page, const char *table);
void *page_json_row(void *page, const char *table);
void page_json_cell_text(void *row, const char *key, const char *text);
void page_json_cell_number(void *row, const char *key, double value);
void page_json_cell_address(void *row, const char *key, uint64_t address);
void page_json_whole(void *page, const char *key, int64_t value);
void page_json_cell_null(void *row, const char *key);
/* Write the page and free it. Return 0 or -EIO. */
int page_json_end(void *page, FILE *to);

#endif
