/* SPDX-License-Identifier: MIT */
/*
 * Parses the WINDOW of STORE@WINDOW, which is TIME or FROM..TO.  A time is now, today, yesterday, 2026-11-25, 2026-11-25T14:30[:05][Z]
 * (local time, with Z UTC), or -90s, -30m, -2h, -7d, -1w (before now).  A day alone means the whole day.  Another time alone means from
 * then until now.  Context: thread.
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

/* Parses WINDOW. now_ns: the time that "now" means. Returns 0, or -EINVAL or -ENOMEM with the reason in d. */
int window_parse(const char *text, int64_t now_ns, struct window *w, struct diag *d);
/* Makes a window of two times. from NULL: all times before `to`; to NULL: until now.  If `to` is a day, the window ends with the end of
 * that day.  Returns 0, or -EINVAL with the reason in d. */
int window_parse_ends(const char *from, const char *to, int64_t now_ns, struct window *w, struct diag *d);
/* Parses one time. *is_day becomes whether it is a day, which begins at *ns then.  Returns 0, or -EINVAL with the reason in d. */
int window_parse_time(const char *text, int64_t now_ns, int64_t *ns, int *is_day, struct diag *d);
/* Formats a time as "2026-11-25 14:30:05", in local time, or as seconds since 1970 if that does not fit.  Returns text. */
const char *window_format_time(int64_t ns, char text[32]);

#endif
