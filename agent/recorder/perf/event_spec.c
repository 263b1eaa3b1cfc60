/* SPDX-License-Identifier: MIT */
/* This file parses a list of events as a user writes it (event.h has the grammar). It splits the list at commas, and takes modifiers and
 * periods off the names. */
#include "agent/recorder/perf/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_MOST (1ull << 50) /* far below 2^63, from which on the kernel refuses periods as negative */

/* Returns the number of a text N, Nk, NM or NG, or 0 if it is none of these or too large. */
static uint64_t parse_scaled_number(const char *text, size_t length)
{
	uint64_t n = 0, unit = 1;

	if (length == 0)
		return 0;
	switch (text[length - 1]) {
	case 'k':
		unit = 1000;
		break;
	case 'M':
		unit = 1000000;
		break;
	case 'G':
		unit = 1000000000;
		break;
	}
	if (unit > 1 && --length == 0)
		return 0;
	for (; length; text++, length--) {
		if (*text < '0' || *text > '9' || n > PERIOD_MOST)
			return 0;
		n = 10 * n + (uint64_t)(*text - '0');
	}
	return n > PERIOD_MOST / unit ? 0 : n * unit;
}

static bool text_starts_with(const char *text, size_t length, const char *with)
{
	return length >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

static int diag_bad_number(const char *what, const struct event_spec *s, struct diag *d)
{
	return diag_fail(d, EINVAL, "'%s': %s must be a number from 1 to 2^50 (suffixes: k, M, G)", s->text, what);
}

/* Parses a modifier of letters (event.h). u, k, h: count there only. p, pp, ppp: exactly this precise level. P: the highest level. Returns
 * false if it is empty, has other letters or more than three p. */
static bool parse_modifier_letters(const char *m, size_t length, struct event_spec *s)
{
	bool user = false, kernel = false, hv = false;
	int precise = 0;

	if (length == 0 || strspn(m, "ukhpP") < length)
		return false;
	for (size_t i = 0; i < length; i++) {
		user |= m[i] == 'u';
		kernel |= m[i] == 'k';
		hv |= m[i] == 'h';
		precise += m[i] == 'p';
	}
	if (precise > 3)
		return false;
	if (precise)
		s->precise = precise;
	if (user || kernel || hv) {
		s->exclude_user = !user;
		s->exclude_kernel = !kernel;
		s->exclude_hv = !hv;
	}
	return true;
}

/* Parses one modifier, without its colon.  Returns 1 if it was taken, 0 if it is none of tailor's (it may be libpfm4's), or -EINVAL with a
 * sentence. */
static int parse_modifier(const char *m, size_t length, struct event_spec *s, struct diag *d)
{
	if (text_starts_with(m, length, "period=")) {
		s->period = parse_scaled_number(m + 7, length - 7);
		return s->period ? 1 : diag_bad_number("period", s, d);
	}
	if (text_starts_with(m, length, "freq=")) {
		s->rate = parse_scaled_number(m + 5, length - 5);
		return s->rate ? 1 : diag_bad_number("rate", s, d);
	}
	if (text_starts_with(m, length, "precise=")) {
		if (length != 9 || m[8] < '0' || m[8] > '3')
			return diag_fail(d, EINVAL, "'%s': precise must be 0, 1, 2 or 3", s->text);
		s->precise = m[8] - '0';
		return 1;
	}
	return parse_modifier_letters(m, length, s);
}

static int diag_bad_modifier(const struct event_spec *s, const char *m, size_t length, struct diag *d)
{
	return diag_fail(d, EINVAL, "'%s': unknown modifier '%.*s' (valid: u k h p pp ppp P)", s->text, (int)length, m);
}

/* Parses what follows the last '@' of an item NAME@PERIOD[:MODIFIER]..., and sets *length to that of NAME.  Returns 0 (also if there is no
 * '@'), or -EINVAL with a sentence. */
static int parse_period_suffix(struct event_spec *s, size_t *length, struct diag *d)
{
	const char *at = strrchr(s->text, '@'), *m;
	int ret;

	if (!at)
		return 0;
	m = at + 1 + strcspn(at + 1, ":");
	s->period = parse_scaled_number(at + 1, (size_t)(m - at - 1));
	if (!s->period)
		return diag_bad_number("period", s, d);
	while (*m++) {
		size_t bytes = strcspn(m, ":");

		ret = parse_modifier(m, bytes, s, d);
		if (ret <= 0)
			return ret ? ret : diag_bad_modifier(s, m, bytes, d);
		m += bytes;
	}
	*length = (size_t)(at - s->text);
	return memchr(s->text, '@', *length) ? diag_fail(d, EINVAL, "'%s' has two periods; give one", s->text) : 0;
}

/* Takes modifiers from the end of the name, and shortens *length by them. PMU/fields/MODIFIER has one, after the last slash. From NAME:...,
 * modifiers are taken from the last one on, as long as they are tailor's. The rest belongs to libpfm4's name. Returns 0, or -EINVAL with a
 * sentence. */
static int parse_modifier_suffixes(struct event_spec *s, size_t *length, struct diag *d)
{
	const char *name = s->text, *slash = memrchr(name, '/', *length), *colon;
	int ret = 1;

	if (slash && slash != memchr(name, '/', *length)) {
		const char *m = slash + 1 + (slash[1] == ':');
		size_t bytes = *length - (size_t)(m - name);

		*length = (size_t)(slash + 1 - name);
		if (bytes)
			ret = parse_modifier(m, bytes, s, d);
		return ret == 0 ? diag_bad_modifier(s, m, bytes, d) : ret < 0 ? ret : 0;
	}
	while ((colon = memrchr(name, ':', *length)) != NULL && colon != name) {
		ret = parse_modifier(colon + 1, *length - (size_t)(colon + 1 - name), s, d);
		if (ret <= 0)
			return ret;
		*length = (size_t)(colon - name);
	}
	return 0;
}

static int parse_event_item(const char *text, size_t length, struct event_spec *s, struct diag *d)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->precise = EVENT_PRECISE_BEST;
	s->exclude_hv = true;
	if (length == 0)
		return diag_fail(d, EINVAL, "empty event name; write NAME[,NAME]..., or `auto` for the best available event");
	if (length >= sizeof(s->name))
		return diag_fail(d, EINVAL, "event name '%.40s...' is too long", text);
	memcpy(s->text, text, length);
	ret = parse_period_suffix(s, &length, d);
	if (ret == 0)
		ret = parse_modifier_suffixes(s, &length, d);
	if (ret)
		return ret;
	memcpy(s->name, s->text, length);
	return s->period && s->rate ? diag_fail(d, EINVAL, "'%s' has a period and a rate; give one", s->text) : 0;
}

int event_parse_list(const char *text, struct event_list *out, struct diag *d)
{
	struct event_list list = { 0 };

	for (;;) {
		size_t length = 0;
		bool in_pmu = false;
		int ret;

		for (; text[length] && (in_pmu || text[length] != ','); length++)
			if (text[length] == '/')
				in_pmu = !in_pmu;
		if (list.nr == EVENTS_MAX)
			return diag_fail(d, EINVAL, "more than %d events; record the others in a second run", EVENTS_MAX);
		ret = parse_event_item(text, length, &list.spec[list.nr], d);
		if (ret)
			return ret;
		list.nr++;
		text += length;
		if (!*text)
			break;
		text++;
	}
	*out = list;
	return 0;
}
