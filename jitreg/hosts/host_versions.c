/* SPDX-License-Identifier: MIT */
#include "jitreg/hosts/host_versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_(NAME, host, jit_hosts, oldest, newest, missing, helps) { #NAME, host, jit_hosts, oldest, newest, missing, helps },
const struct host_versions host_versions[NR_HOST_VERSIONS] = { HOST_VERSIONS(ROW_) };
#undef ROW_

static bool is_of_version(char c)
{
	return (c >= '0' && c <= '9') || c == '.';
}

static void copy_printable(char *to, size_t room, const char *from, size_t bytes)
{
	size_t n = bytes < room - 1 ? bytes : room - 1;

	for (size_t i = 0; i < n; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[n] = 0;
}

static void set(struct host_lack *l, enum host_version host, const char *version, size_t version_bytes, const char *why, size_t why_bytes)
{
	size_t from = version_bytes && *version == 'v', n = from;

	memset(l, 0, sizeof(*l));
	l->host = host;
	while (n < version_bytes && n - from + 1 < sizeof(l->version) && is_of_version(version[n]))
		n++;
	memcpy(l->version, version + from, n - from);
	copy_printable(l->why, sizeof(l->why), why, why_bytes);
}

void host_lack_set(struct host_lack *l, enum host_version host, const char *version, const char *why)
{
	set(l, host, version, strlen(version), why, strlen(why));
}

bool host_lack_is(const struct host_lack *a, const struct host_lack *b)
{
	return a->host == b->host && strcmp(a->version, b->version) == 0 && strcmp(a->why, b->why) == 0;
}

bool host_lack_parse(struct host_lack *l, const char *text, size_t bytes)
{
	const char *end = text + bytes, *version = memchr(text, '\n', bytes), *why;

	version = version ? version + 1 : end;
	why = memchr(version, '\n', (size_t)(end - version));
	if (!why)
		return false;
	for (int i = 0; i < NR_HOST_VERSIONS; i++)
		if (strlen(host_versions[i].key) == (size_t)(version - 1 - text) &&
		    memcmp(host_versions[i].key, text, (size_t)(version - 1 - text)) == 0) {
			set(l, (enum host_version)i, version, (size_t)(why - version), why + 1, (size_t)(end - why - 1));
			return true;
		}
	return false;
}

/* Compare two versions, number by number, as far as both have numbers.  Returns -1, 0 or 1. */
static int compare_versions(const char *a, const char *b)
{
	for (;;) {
		char *end_a, *end_b;
		unsigned long x = strtoul(a, &end_a, 10), y = strtoul(b, &end_b, 10);

		if (end_a == a || end_b == b)
			return 0;
		if (x != y)
			return x < y ? -1 : 1;
		a = end_a + (*end_a == '.');
		b = end_b + (*end_b == '.');
	}
}

bool host_version_is_verified(enum host_version host, const char *version)
{
	return compare_versions(version, host_versions[host].oldest) >= 0 && compare_versions(version, host_versions[host].newest) <= 0;
}

static bool is_older(const struct host_lack *l)
{
	return compare_versions(l->version, host_versions[l->host].oldest) < 0;
}

const char *host_lack_helps(const struct host_lack *l)
{
	return is_older(l) ? "" : host_versions[l->host].helps;
}

const char *host_lack_reason(const struct host_lack *l, char text[HOST_REASON_BYTES])
{
	const struct host_versions *v = &host_versions[l->host];
	const bool one = strcmp(v->oldest, v->newest) == 0;
	char verified[64];

	snprintf(verified, sizeof(verified), one ? "%s" : "%s to %s", v->oldest, v->newest);
	if (host_version_is_verified(l->host, l->version))
		snprintf(text, HOST_REASON_BYTES, "%s (verified: %s)", l->why, verified);
	else
		snprintf(text, HOST_REASON_BYTES, "it is %s than the version%s verified (%s)", is_older(l) ? "older" : "newer",
			 one ? "" : "s", verified);
	return text;
}

const char *host_lack_sentence(const struct host_lack *l, char text[HOST_SENTENCE_BYTES])
{
	const struct host_versions *v = &host_versions[l->host];
	const char *helps = host_lack_helps(l);
	char reason[HOST_REASON_BYTES];

	snprintf(text, HOST_SENTENCE_BYTES, "%s%s%s: %s are missing, because %s%s%s", v->host, *l->version ? " " : "", l->version,
		 v->missing, host_lack_reason(l, reason), *helps ? ". " : "", helps);
	return text;
}

bool host_lacks_add(struct host_lacks *all, const struct host_lack *l)
{
	for (unsigned i = 0; i < all->nr; i++)
		if (host_lack_is(&all->list[i], l))
			return false;
	if (all->nr == HOST_LACKS_MAX)
		return false;
	all->list[all->nr++] = *l;
	return true;
}

bool host_is_named(const char *jit_hosts, const char *jit_host)
{
	const size_t bytes = strlen(jit_host);

	for (const char *at = strstr(jit_hosts, jit_host); bytes && at; at = strstr(at + 1, jit_host))
		if ((at == jit_hosts || at[-1] == ' ') && (!at[bytes] || at[bytes] == ' '))
			return true;
	return false;
}

bool host_lacks_have(const struct host_lacks *all, const char *jit_host)
{
	for (unsigned i = 0; i < all->nr; i++)
		if (host_is_named(host_versions[all->list[i].host].jit_hosts, jit_host))
			return true;
	return false;
}
