/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/fleet.h"

#include "analyzer/fleet/push_otlp.h"

#include <errno.h>
#include <string.h>

int fleet_push(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d)
{
	static const char otlp[] = "otlp+";

	memset(p, 0, sizeof(*p));
	if (strncmp(target, "otlp+http://", 12) == 0 || strncmp(target, "otlp+https://", 13) == 0)
		return push_otlp(s, what, target + sizeof(otlp) - 1, p, d);
	return diag_fail(d, EINVAL, "'%s' is no target: otlp+http[s]://HOST[:PORT][/PATH]", target);
}
