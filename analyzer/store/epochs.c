/* SPDX-License-Identifier: MIT */
#include "analyzer/store/epochs.h"

bool epochs_have(struct store *s, int64_t recording, int64_t number)
{
	static struct statement here = STATEMENT("SELECT 1 FROM epoch WHERE recording = ? AND number = ? AND tier = 0"),
				folded = STATEMENT("SELECT 1 FROM folded WHERE recording = ? AND number = ?");
	bool has = store_run(s, &here, "ii", recording, number);

	if (has)
		sqlite3_reset(here.prepared);
	if (!has && store_run(s, &folded, "ii", recording, number)) {
		sqlite3_reset(folded.prepared);
		has = true;
	}
	return has;
}
