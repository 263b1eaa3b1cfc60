/* SPDX-License-Identifier: MIT */
/* A function's bytes, hostile: what is read of its frame must be of the function, and be the same twice. */
#include "tests/fuzz/fuzz.h"

#include "analyzer/unwind/epilogue_analysis.h"
#include "analyzer/unwind/prologue_analysis.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct prologue_rows *rows, uint64_t offset, size_t size)
{
	struct cfi_row row, again;

	if (!prologue_rows_find(rows, offset, &row))
		return;
	if (offset >= size || row.cfa.where != CFI_REGISTER || row.cfa.reg >= 16 || row.reg[CFI_RETURN].where != CFI_AT ||
	    row.reg[CFI_RETURN].value != -8)
		abort();
	for (int i = 0; i < CFI_RETURN; i++)
		if (row.reg[i].where == CFI_AT && row.reg[i].value > -16) /* the return address, or the caller's own */
			abort();
	if (!prologue_rows_find(rows, offset, &again) || memcmp(&row, &again, sizeof(row)) != 0)
		abort();
}

static void check_forwards(const uint8_t *data, size_t size, uint64_t offset)
{
	struct cfi_row row, again;

	if (!epilogue_analysis_row(data, size, offset, offset & 1, &row))
		return;
	if (offset >= size || row.cfa.where != CFI_REGISTER || row.cfa.value < (row.cfa.reg == CFI_RSP ? 8 : INT32_MIN) ||
	    row.reg[CFI_RETURN].where != CFI_AT || row.reg[CFI_RETURN].value != -8)
		abort();
	if (!epilogue_analysis_row(data, size, offset, offset & 1, &again) || memcmp(&row, &again, sizeof(row)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prologue_rows *rows = prologue_rows_create(data, size);

	if (!rows)
		return 0;
	for (uint64_t offset = 0; offset < size + 16; offset++)
		check(rows, offset, size);
	check(rows, UINT64_MAX, size);
	prologue_rows_destroy(rows);
	for (uint64_t offset = 0; offset <= size && offset < 16; offset++)
		check_forwards(data, size, offset);
	code_ends_with_call(data, size);
	return 0;
}
