/* SPDX-License-Identifier: MIT */
/* An unwinder consists of the indexes of all objects, libunwind, and the rules of memo.c, which make most steps without libunwind. */
#include "analyzer/unwind/unwind_internal.h"

#include <errno.h>
#include <stdlib.h>

struct unwinder {
	enum unwind_way way;
	struct knowledge all;
	struct libunwind *libunwind;
	struct memo *memo;
};

int unwinder_create(enum unwind_way way, struct unwinder **out, struct diag *d)
{
	struct unwinder *u = calloc(1, sizeof(*u));
	int ret;

	if (!u)
		return diag_fail(d, ENOMEM, "out of memory for unwinding");
	u->way = way;
	ret = libunwind_create(&u->all, &u->libunwind, d);
	if (ret) {
		free(u);
		return ret;
	}
	u->memo = memo_create(&u->all, u->libunwind);
	if (!u->memo) {
		unwinder_destroy(u);
		return diag_fail(d, ENOMEM, "out of memory for unwinding");
	}
	*out = u;
	return 0;
}

static void knowledge_fini(struct knowledge *all)
{
	knowledge_forget_code(all);
	for (uint32_t i = 0; i < all->index.nr; i++) {
		struct fde_index *k = all->index.at[i];

		if (k->table)
			libunwind_table_free(k->table);
		free(k->own_frames);
		free(k->fdes.at);
		free(k->expressions.at);
		free(k);
	}
	free(all->index.at);
	hash_map_fini(&all->index_of_key);
}

void unwinder_destroy(struct unwinder *u)
{
	memo_destroy(u->memo);
	libunwind_destroy(u->libunwind);
	knowledge_fini(&u->all);
	free(u);
}

struct unwind_counts unwinder_counts(const struct unwinder *u)
{
	return memo_counts(u->memo);
}

uint64_t unwind_function(struct unwinder *u, const struct unwind_space *space, uint64_t address)
{
	return memo_function(u->memo, space, address);
}

enum unwind_end unwind_walk(struct unwinder *u, const struct unwind_space *space, const struct unwind_input *input,
			    bool (*frame)(void *context, const struct unwind_frame *f), void *context)
{
	return u->way == UNWIND_LIBUNWIND ? libunwind_walk(u->libunwind, space, input, frame, context) :
					    memo_walk(u->memo, space, input, frame, context);
}
