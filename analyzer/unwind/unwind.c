/* SPDX-License-Identifier: MIT */
/* An unwinder is what is known of objects, libunwind, and the memo in front of it. */
#include "unwind_internal.h"

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
		return diag_fail(d, ENOMEM, "no memory for unwinding");
	u->way = way;
	ret = libunwind_create(&u->all, &u->libunwind, d);
	if (ret) {
		free(u);
		return ret;
	}
	u->memo = memo_create(&u->all, u->libunwind);
	if (!u->memo) {
		unwinder_destroy(u);
		return diag_fail(d, ENOMEM, "no memory for unwinding");
	}
	*out = u;
	return 0;
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

enum unwind_end unwind_walk(struct unwinder *u, const struct unwind_space *space, const struct unwind_input *input,
			    bool (*frame)(void *context, const struct unwind_frame *f), void *context)
{
	return u->way == UNWIND_LIBUNWIND ? libunwind_walk(u->libunwind, space, input, frame, context) :
					    memo_walk(u->memo, space, input, frame, context);
}

bool leave_by_frame_pointer(const struct unwind_input *in, bool in_chain, struct unwind_registers *r)
{
	uint64_t rbp = r->value[UNWIND_RBP], above, ip;
	bool goes_on;
	enum unwind_end end;

	if (!(r->known & 1u << UNWIND_RBP) || rbp < r->value[UNWIND_RSP] || rbp % 8 || !stack_read(in, rbp, &above, &end) ||
	    !stack_read(in, rbp + 8, &ip, &end))
		return false;
	goes_on = !above || above > rbp;
	if (!goes_on && !in_chain)
		return false;
	*r = (struct unwind_registers){ .known = (unsigned)goes_on << UNWIND_RBP | 1u << UNWIND_RSP | 1u << UNWIND_RIP };
	r->value[UNWIND_RBP] = above;
	r->value[UNWIND_RSP] = rbp + 16;
	r->value[UNWIND_RIP] = ip;
	return true;
}
