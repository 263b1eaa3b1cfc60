/* SPDX-License-Identifier: MIT */
#include "analyzer/store/epochs.h"

bool epochs_have(struct store *s, int64_t recording, int64_t number)
{
	static struct statement here = STATEMENT("SELECT 1 FROM epoch WHERE recording = ? AND number = ? AND tier = 0"),
				folded = STATEMENT("SELECT 1 FROM folded WHERE recording = ? AND number = ?");
	const int64_t epoch[] = { recording, number };

	if (store_run_numbers(s, &here, epoch, 2))
		return store_take_number(&here) != 0;
	return store_run_numbers(s, &folded, epoch, 2) && store_take_number(&folded) != 0;
}
