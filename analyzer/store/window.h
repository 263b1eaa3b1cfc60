/* SPDX-License-Identifier: MIT */
/*
 * A stretch of time of a store: STORE, or STORE@WINDOW, where WINDOW is TIME or FROM..TO.  A time is now, today, yesterday, 2026-11-25,
 * 2026-11-25T14:30[:05][Z] (local time, but with Z), or -90s, -30m, -2h, -7d (before now).  A day alone is all of it; another time alone
 * is from then until now.  Context: thread.
 */
#ifndef TAILOR_STORE_WINDOW_H
#define TAILOR_STORE_WINDOW_H

#include "jitreg/base/diag.h"

#include <stdint.h>

/* Nanoseconds since 1970, UTC: [from, to). */
struct window {
	int64_t from_ns, to_ns;
};

#define WINDOW_ALL { INT64_MIN, INT64_MAX }

/* now_ns: what "now" is.  0, or -EINVAL with a sentence. */
int window_parse(const char *text, int64_t now_ns, struct window *w, struct diag *d);
/* Likewise, of two times; from NULL: all before to; to NULL: until now. */
int window_parse_ends(const char *from, const char *to, int64_t now_ns, struct window *w, struct diag *d);
/* One end: *is_day where it is a whole day. */
int window_parse_time(const char *text, int64_t now_ns, int64_t *ns, int *is_day, struct diag *d);
/* "2026-11-25 14:30:05", local time, in text. */
const char *window_format_time(int64_t ns, char text[32]);

#endif
