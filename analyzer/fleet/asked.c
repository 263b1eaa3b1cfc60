/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/asked.h"

#include "analyzer/fleet/fleet.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_EVENT = 0x700, KEY_FROM, KEY_TO, KEY_LAST, KEY_PROCESS, KEY_SERVICE, KEY_HOST, KEY_QUERY, KEY_COMPONENT, KEY_PER };

#define VIEW_NAMES "components|functions|queries|processes|services|epochs|reasons"

static const struct asked_view views[] = {
	{ "components", NULL, SUMS_COMPONENT, true },	   { "functions", "function", SUMS_FUNCTION, true },
	{ "queries", "query", SUMS_QUERY, true },	   { "processes", "process", SUMS_PROCESS, true },
	{ "services", "service", SUMS_SERVICE, true },	   { "epochs", NULL, SUMS_PROCESS, false },
	{ "reasons", NULL, SUMS_PROCESS, false },
};

const struct asked_view *asked_find_view(const char *name)
{
	if (!name)
		return &views[0];
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (strcmp(views[i].name, name) == 0 || (views[i].level && strcmp(views[i].level, name) == 0))
			return &views[i];
	return NULL;
}

static const struct argp_option options[] = {
	{ "view", 'v', VIEW_NAMES, 0, "what to list (components; functions where no host declares any)", 0 },
	{ "from", KEY_FROM, "TIME", 0, "the window's begin, in place of @WINDOW", 0 },
	{ "to", KEY_TO, "TIME", 0, "its end (now); db push: no time, but the server's address", 0 },
	{ "last", KEY_LAST, "TIME", 0, "the window from so long before now: 90s, 10m, 2h, 7d", 0 },
	{ "event", KEY_EVENT, "NAME", 0, "of this event (the first that is no wait)", 0 },
	{ "process", KEY_PROCESS, "NAME", 0, "of processes of this name or executable", 0 },
	{ "service", KEY_SERVICE, "NAME", 0, "of this service: a systemd unit, a container, a name for OpenTelemetry", 0 },
	{ "host", KEY_HOST, "NAME", 0, "of this machine", 0 },
	{ "query", KEY_QUERY, "TEXT", 0, "of queries that contain this text", 0 },
	{ "component", KEY_COMPONENT, "[LEVEL:]NAME", 0, "of this component", 0 },
	{ "per", KEY_PER, "service", 0, "report, timeline, diff, stat: a row for each service, in place of one for all", 0 },
	{ 0 },
};

static error_t parse_asked_option(int key, char *arg, struct argp_state *state)
{
	struct asked_options *a = state->input;

	switch (key) {
	case 'v':
		a->view = arg;
		if (!asked_find_view(arg))
			usage_fail(state, "unknown view '%s': components, functions, queries, processes, services, epochs or reasons; "
				   "traces have the others (tailor db trace)", arg);
		break;
	case KEY_FROM:
		a->from = arg;
		break;
	case KEY_TO:
		a->to = arg;
		break;
	case KEY_LAST:
		a->last = arg;
		break;
	case KEY_EVENT:
		a->event = arg;
		break;
	case KEY_PROCESS:
		a->process = arg;
		break;
	case KEY_SERVICE:
		a->service = arg;
		break;
	case KEY_HOST:
		a->host = arg;
		break;
	case KEY_QUERY:
		a->query = arg;
		break;
	case KEY_COMPONENT:
		a->component = arg;
		break;
	case KEY_PER:
		a->per_service = strcmp(arg, "service") == 0;
		if (!a->per_service)
			usage_fail(state, "--per must be 'service', not '%s'", arg);
		break;
	case ARGP_KEY_END:
		if (a->per_service && (!asked_find_view(a->view)->is_list || asked_find_view(a->view)->by == SUMS_SERVICE))
			usage_fail(state, "--per=service has a row for each service: use it with --view components, functions, queries or "
				   "processes");
		if (a->view && *a->view == 'r' && (a->process || a->service || a->query || a->component))
			usage_fail(state, "reasons are kept of whole epochs: leave out --process, --service, --query and --component "
				   "(a trace has reasons of each process: tailor db trace)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp asked_argp = { options, parse_asked_option, NULL, NULL, NULL, NULL, NULL };

bool asked_is_store(const char *text)
{
	return fleet_is_named(text) || store_is_named(text);
}

char *asked_next_source(char **rest)
{
	char *first = *rest;

	if (first && fleet_is_named(first)) {
		*rest += fleet_address_bytes(first);
		strsep(rest, ",");
		return first;
	}
	return strsep(rest, ",");
}

static size_t path_bytes(const char *text)
{
	return fleet_is_named(text) ? fleet_address_bytes(text) : store_path_bytes(text);
}

int asked_window(const char *text, const struct asked_options *a, struct window *w, struct diag *d)
{
	const char *at = text + path_bytes(text);
	char *before;
	int ret;

	*w = (struct window)WINDOW_ALL;
	if ((*at == '@') + (a->from || a->to) + (a->last != NULL) > 1)
		return diag_fail(d, EINVAL, "%s: give one window: @WINDOW, --from and --to, or --last", fleet_shown(text));
	if (*at == '@')
		return window_parse(at + 1, clock_real_ns(), w, d);
	if (a->from || a->to)
		return window_parse_ends(a->from, a->to, clock_real_ns(), w, d);
	if (!a->last)
		return 0;
	if (asprintf(&before, "-%s", a->last) < 0)
		return diag_fail(d, ENOMEM, "out of memory");
	ret = window_parse(before, clock_real_ns(), w, d);
	free(before);
	return ret;
}

int asked_open(const char *text, const struct asked_options *a, enum sums_by by, struct sums_question *q, struct store **out,
	       struct diag *d)
{
	bool fleet = fleet_is_named(text);
	char *path = strndup(text, path_bytes(text));
	int ret;

	*q = (struct sums_question){ .by = by,	   .event = a->event, .process = a->process,	 .service = a->service,
				     .host = a->host, .query = a->query, .component = a->component, .per_service = a->per_service };
	ret = path ? asked_window(text, a, &q->window, d) : diag_fail(d, ENOMEM, "out of memory for a path");
	if (ret == 0 && fleet) {
		ret = fleet_open(path, &q->window, q->host, q->by == SUMS_FUNCTION, out, d);
		/* the store that was made of the server's answers has nothing outside of the window */
		q->window = (struct window)WINDOW_ALL;
		q->host = NULL;
	} else if (ret == 0) {
		ret = store_open(path, STORE_READ, out, d);
	}
	free(path);
	return ret;
}

int asked_open_functions(const char *text, const struct asked_options *a, struct sums_question *q, struct store **s, struct diag *d)
{
	q->by = SUMS_FUNCTION;
	if (!fleet_is_named(text))
		return 0;
	store_close(*s);
	*s = NULL;
	return asked_open(text, a, SUMS_FUNCTION, q, s, d);
}
