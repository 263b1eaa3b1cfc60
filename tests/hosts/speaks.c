/* SPDX-License-Identifier: MIT */
/* Says one thing of every kind that 1.0 knows, and prints what the calls returned. */
#include "jitreg.h"

#include <stdio.h>

int main(void)
{
	uint64_t ids = jitreg_new_ids(4), mark;
	int ret = jitreg_scope(ids, 4, "query 1", "select 1");

	printf("scope %d, ", ret);
	ret = jitreg_component(1, ids, "scan", "", 0);
	mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), 1, 0, "select 1");
	printf("component %d, mark %s, ", ret, mark ? "yes" : "no");
	ret = jitreg_mark(JITREG_MARK_BEGIN, "old", 0, 0, 1, 0, 0, NULL);
	printf("old mark %d, ", ret);
	ret = jitreg_mark(JITREG_MARK_END, "old", 0, 0, 1, 0, 0, NULL);
	(void)jitreg_mark_end(mark, 5);
	(void)jitreg_scope_end(ids, 4);
	printf("its end %d\n", ret);
	return 0;
}
