/* SPDX-License-Identifier: MIT */
/* A page as JSON.  The objects are jansson's, behind void pointers: its headers stay inside of this folder's json files.
 * Context: thread. */
#ifndef TAILOR_PAGE_JSON_H
#define TAILOR_PAGE_JSON_H

#include "analyzer/output/page.h"

#include <stdint.h>
#include <stdio.h>

void *page_json_create(void);
void page_json_text(void *page, const char *key, const char *text);
void page_json_number(void *page, const char *key, double value);
void page_json_note(void *page, const char *sentence);
/* A new row of a table; its cells are set by the three below.  A table without rows: page_json_table(). */
void page_json_table(void *page, const char *table);
void *page_json_row(void *page, const char *table);
void page_json_cell_text(void *row, const char *key, const char *text);
void page_json_cell_number(void *row, const char *key, double value);
void page_json_cell_address(void *row, const char *key, uint64_t address);
void page_json_whole(void *page, const char *key, int64_t value);
void page_json_cell_null(void *row, const char *key);
/* Write and free; 0 or -EIO. */
int page_json_end(void *page, FILE *to);

#endif
