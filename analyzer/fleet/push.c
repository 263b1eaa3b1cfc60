/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/fleet.h"

#include "analyzer/fleet/clickhouse.h"
#include "analyzer/fleet/http.h"
#include "analyzer/fleet/push_clickhouse.h"
#include "analyzer/fleet/push_otlp.h"
#include "analyzer/fleet/read_clickhouse.h"

#include <errno.h>
#include <string.h>

int fleet_push(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d)
{
	static const char otlp[] = "otlp+";

	*p = (struct fleet_pushed){ .units_are = clickhouse_is_named(target) ? "epochs, hours and days" : "profiles" };
	if (strncmp(target, "otlp+http://", 12) == 0 || strncmp(target, "otlp+https://", 13) == 0)
		return push_otlp(s, what, target + sizeof(otlp) - 1, p, d);
	if (clickhouse_is_named(target))
		return push_clickhouse(s, what, target, p, d);
	return diag_fail(d, EINVAL, "'%s' is no target: otlp+http[s]://HOST[:PORT][/PATH], or "
			 "clickhouse[s]://HOST[:PORT][,HOST...]/DATABASE", fleet_shown(target));
}

bool fleet_is_named(const char *text)
{
	return clickhouse_is_named(text);
}

size_t fleet_address_bytes(const char *text)
{
	return clickhouse_address_bytes(text);
}

const char *fleet_shown(const char *text)
{
	return strstr(text, "://") ? http_shown_url(text) : text;
}

int fleet_open(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d)
{
	return read_clickhouse(address, w, host, functions, out, d);
}
