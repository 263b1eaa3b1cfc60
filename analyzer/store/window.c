/* SPDX-License-Identifier: MIT */
#include "analyzer/store/window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000ll
#define YEARS_MAX_S (500ll * 366 * 86400)

static int64_t midnight(int64_t now_ns, int days)
{
	time_t t = (time_t)(now_ns / SECOND_NS);
	struct tm day;

	localtime_r(&t, &day);
	day.tm_mday += days; /* mktime() normalizes the date, also if a day has 23 or 25 hours */
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	return (int64_t)mktime(&day) * SECOND_NS;
}

static int parse_before_now(const char *text, int64_t now_ns, int64_t *ns)
{
	static const struct {
		const char *name;
		int seconds;
	} units[] = { { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }, { "w", 7 * 86400 } };
	char *end;
	double number = strtod(text + 1, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0 && end > text + 1 && number >= 0 && number * units[i].seconds < (double)YEARS_MAX_S) {
			*ns = now_ns - (int64_t)(number * units[i].seconds * (double)SECOND_NS);
			return 0;
		}
	return -EINVAL;
}

static int parse_calendar(const char *text, int64_t *ns, int *is_day)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm t = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &t);
		time_t s;

		if (!end || (*end && strcmp(end, "Z") != 0))
			continue;
		t.tm_isdst = -1;
		s = *end ? timegm(&t) : mktime(&t);
		if (s > YEARS_MAX_S || s < 0)
			return -EINVAL;
		*ns = (int64_t)s * SECOND_NS;
		*is_day = i == 2;
		return 0;
	}
	return -EINVAL;
}

int window_parse_time(const char *text, int64_t now_ns, int64_t *ns, int *is_day, struct diag *d)
{
	*is_day = strcmp(text, "today") == 0 || strcmp(text, "yesterday") == 0;
	if (*is_day)
		*ns = midnight(now_ns, text[0] == 't' ? 0 : -1);
	else if (strcmp(text, "now") == 0)
		*ns = now_ns;
	else if (text[0] == '-' ? parse_before_now(text, now_ns, ns) : parse_calendar(text, ns, is_day))
		return diag_fail(d, EINVAL, "'%s' is not a time: now, today, yesterday, 2026-11-25, 2026-11-25T14:30[:05][Z], or -90s, "
				 "-30m, -2h, -7d before now", text);
	return 0;
}

int window_parse_ends(const char *from, const char *to, int64_t now_ns, struct window *w, struct diag *d)
{
	int day = 0, ret = 0;

	*w = (struct window){ INT64_MIN, now_ns };
	if (from)
		ret = window_parse_time(from, now_ns, &w->from_ns, &day, d);
	if (ret == 0 && to) {
		ret = window_parse_time(to, now_ns, &w->to_ns, &day, d);
		if (day)
			w->to_ns = midnight(w->to_ns, 1);
	}
	if (ret == 0 && w->to_ns <= w->from_ns)
		return diag_fail(d, EINVAL, "'%s..%s' ends before it begins", from ? from : "", to ? to : "now");
	return ret;
}

int window_parse(const char *text, int64_t now_ns, struct window *w, struct diag *d)
{
	const char *dots = strstr(text, "..");
	char *from = strndup(text, dots ? (size_t)(dots - text) : strlen(text));
	int64_t begin_ns;
	int day = 0, ret = from ? window_parse_time(from, now_ns, &begin_ns, &day, d) : diag_fail(d, ENOMEM, "out of memory for a time");

	if (ret == 0) /* a day alone means the whole day */
		ret = window_parse_ends(from, dots ? dots + 2 : day ? from : NULL, now_ns, w, d);
	free(from);
	return ret;
}

const char *window_format_time(int64_t ns, char text[32])
{
	time_t t = (time_t)(ns / SECOND_NS);
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, 32, "%lld", (long long)t);
	return text;
}
