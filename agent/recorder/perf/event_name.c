/* SPDX-License-Identifier: MIT */
/*
 * This file resolves an event's name, and finds the unit of the event's weights. Sources are asked in this order: raw codes, the kernel's
 * own names, a PMU's fields (sysfs), tailor's table (event_table.c), libpfm4, and the aliases that the kernel has for this processor.
 */
#include "agent/recorder/perf/event_internal.h"

#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEVICES "/sys/bus/event_source/devices"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} kernel_names[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
};

static bool find_kernel_event(const char *name, struct perf_event_attr *a)
{
	for (size_t i = 0; i < sizeof(kernel_names) / sizeof(kernel_names[0]); i++)
		if (strcmp(name, kernel_names[i].name) == 0) {
			a->type = kernel_names[i].type;
			a->config = kernel_names[i].config;
			return true;
		}
	return false;
}

/* Takes a name rN, whose hexadecimal number N is the raw code of the processor's event. */
static bool find_raw_event(const char *name, struct perf_event_attr *a)
{
	size_t digits = strspn(name + (*name != 0), "0123456789abcdefABCDEF");

	if (*name != 'r' || digits == 0 || digits > 16 || name[1 + digits])
		return false;
	a->type = PERF_TYPE_RAW;
	a->config = strtoull(name + 1, NULL, 16);
	return true;
}

/* ------------------------------------------------------------------------------------------------ a PMU's own fields */

static bool read_pmu_file_line(const char *pmu, const char *folder, const char *file, char *line, int bytes)
{
	char path[256];
	bool ok = false;
	FILE *f;

	if (strpbrk(pmu, "./") || strpbrk(file, "/"))
		return false;
	snprintf(path, sizeof(path), DEVICES "/%s/%s%s%s", pmu, folder, *folder ? "/" : "", file);
	f = fopen(path, "re");
	if (f) {
		ok = fgets(line, bytes, f) != NULL;
		line[ok ? strcspn(line, "\n") : 0] = 0;
		fclose(f);
	}
	return ok;
}

/* Sets the bits of *a that a field's format names, as in "config:0-7,32-35", to those of value.  Returns false if the value does not fit,
 * or the format is unknown. */
static bool set_config_field(struct perf_event_attr *a, const char *format, uint64_t value)
{
	uint64_t *to;
	const char *at = strchr(format, ':');

	if (!at)
		return false;
	if (memcmp(format, "config1:", 8) == 0)
		to = (uint64_t *)&a->config1;
	else if (memcmp(format, "config2:", 8) == 0)
		to = (uint64_t *)&a->config2;
	else if (memcmp(format, "config:", 7) == 0)
		to = (uint64_t *)&a->config;
	else
		return false;
	do {
		char *end;
		unsigned long from = strtoul(at + 1, &end, 10), until = from;

		if (*end == '-')
			until = strtoul(end + 1, &end, 10);
		if (from > 63 || until > 63 || until < from)
			return false;
		for (unsigned long bit = from; bit <= until; bit++, value >>= 1)
			*to |= (value & 1) << bit;
		at = end;
	} while (*at == ',');
	return value == 0;
}

/* Sets the fields of a list such as "event=0x1,umask=2,inv".  A word may also be the name of an alias in the PMU's folder `events`, which
 * stands for such a list, unless depth is 0 (an alias has no alias in it).  Returns 0, or -EINVAL with a sentence. */
static int set_config_fields(const char *pmu, const char *fields, int depth, struct perf_event_attr *a, struct diag *d)
{
	char field[64], line[256];

	while (*fields) {
		size_t length = strcspn(fields, ","), name = strcspn(fields, "=,");
		uint64_t value = 1;

		if (length >= sizeof(field))
			return diag_fail(d, EINVAL, "PMU %s has no event field '%.30s...'", pmu, fields);
		memcpy(field, fields, length);
		field[length] = 0;
		field[name] = 0;
		if (name < length) {
			char *end;

			value = strtoull(field + name + 1, &end, 0);
			if (end == field + name + 1 || *end)
				return diag_fail(d, EINVAL, "field '%s' of PMU %s must be a number, not '%s'", field, pmu,
						 field + name + 1);
		}
		if (strcmp(field, "config") == 0) {
			a->config |= value;
		} else if (read_pmu_file_line(pmu, "format", field, line, sizeof(line))) {
			if (!set_config_field(a, line, value))
				return diag_fail(d, EINVAL, "%llu does not fit into field '%s' of PMU %s", (unsigned long long)value,
						 field, pmu);
		} else if (name == length && depth && read_pmu_file_line(pmu, "events", field, line, sizeof(line))) {
			int ret = set_config_fields(pmu, line, 0, a, d);

			if (ret)
				return ret;
		} else {
			return diag_fail(d, EINVAL, "PMU %s has no field or event '%s'; see " DEVICES
					 "/%s/format and events", pmu, field, pmu);
		}
		fields += length + (fields[length] == ',');
	}
	return 0;
}

/* Takes a name of the form PMU/fields/.  Returns 0, or -EINVAL with a sentence. */
static int find_pmu_event(const char *name, struct perf_event_attr *a, struct diag *d)
{
	char pmu[64], fields[128], line[64];
	const char *slash = strchr(name, '/');

	snprintf(pmu, sizeof(pmu), "%.*s", (int)(slash - name), name);
	snprintf(fields, sizeof(fields), "%s", slash + 1);
	if (strchr(fields, '/'))
		*strchr(fields, '/') = 0;
	if (!read_pmu_file_line(pmu, "", "type", line, sizeof(line)))
		return diag_fail(d, EINVAL, "unknown event '%s': this machine has no PMU '%s' (PMUs are listed in " DEVICES ")",
				 name, pmu);
	a->type = (uint32_t)strtoul(line, NULL, 10);
	return set_config_fields(pmu, fields, 1, a, d);
}

/* Takes an alias that the kernel has for the processor's PMU in sysfs, such as mem-loads or topdown-retiring. */
static bool find_kernel_alias(const char *name, struct perf_event_attr *a)
{
	static const char *const pmus[] = { "cpu", "cpu_core" };
	struct perf_event_attr found = *a;
	char line[256], type[64];
	struct diag d;

	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++)
		if (*name && read_pmu_file_line(pmus[i], "events", name, line, sizeof(line)) &&
		    read_pmu_file_line(pmus[i], "", "type", type, sizeof(type)) && set_config_fields(pmus[i], line, 0, &found, &d) == 0) {
			found.type = (uint32_t)strtoul(type, NULL, 10);
			*a = found;
			return true;
		}
	return false;
}

/* --------------------------------------------------------------------------------------------------------- libpfm4 */

static int find_libpfm_event(const char *name, struct perf_event_attr *a)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	int ret = pfm_initialize();

	if (ret == PFM_SUCCESS)
		ret = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (ret == PFM_SUCCESS) {
		a->type = attr.type;
		a->config = attr.config;
		a->config1 = attr.config1;
		a->config2 = attr.config2;
		a->exclude_user = attr.exclude_user; /* libpfm4's modifier u=0 sets this */
		a->exclude_kernel = attr.exclude_kernel;
	}
	return ret;
}

/* Passes all names that can be suggested to each(): the kernel's, those of event_table.c, and libpfm4's for this machine's PMUs. */
static void each_event_name(const struct event_pmu *known, void (*each)(void *context, const char *name), void *context)
{
	pfm_pmu_t pmu;

	for (size_t i = 0; i < sizeof(kernel_names) / sizeof(kernel_names[0]); i++)
		each(context, kernel_names[i].name);
	for (size_t i = 0; event_table_name(known, i); i++)
		each(context, event_table_name(known, i));
	if (pfm_initialize() != PFM_SUCCESS)
		return;
	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS || !info.is_present)
			continue;
		for (int i = info.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t event = { .size = sizeof(event) };

			if (pfm_get_event_info(i, PFM_OS_NONE, &event) == PFM_SUCCESS)
				each(context, event.name);
		}
	}
}

/* ------------------------------------------------------------------------------------------------------- all of them */

enum weight_unit event_unit(const struct perf_event_attr *a, const char *name)
{
	if (event_is_clock(a))
		return WEIGHT_NS;
	if (a->type == PERF_TYPE_HARDWARE && (uint32_t)a->config == PERF_COUNT_HW_CPU_CYCLES)
		return WEIGHT_CYCLES;
	if (a->type == PERF_TYPE_HARDWARE && (uint32_t)a->config == PERF_COUNT_HW_INSTRUCTIONS)
		return WEIGHT_INSTRUCTIONS;
	return strcasestr(name, "cycles") || strcasestr(name, "CPU_CLK_UNHALTED") ? WEIGHT_CYCLES : WEIGHT_EVENTS;
}

static const char *text_of_libpfm_error(int error)
{
	switch (error) {
	case PFM_ERR_ATTR:
	case PFM_ERR_UMASK:
		return "unit mask or modifier missing or unknown";
	case PFM_ERR_ATTR_VAL:
	case PFM_ERR_ATTR_SET:
	case PFM_ERR_FEATCOMB:
		return "modifiers cannot be combined";
	default:
		return NULL;
	}
}

int event_find(const struct event_spec *s, const struct event_pmu *pmu, struct perf_event_attr *a, struct diag *d)
{
	char near[256];
	const char *why;
	int ret;

	memset(a, 0, sizeof(*a));
	if (find_raw_event(s->name, a) || find_kernel_event(s->name, a))
		return 0;
	if (strchr(s->name, '/'))
		return find_pmu_event(s->name, a, d);
	if (event_table_find(s->name, pmu, a))
		return 0;
	ret = find_libpfm_event(s->name, a);
	if (ret == PFM_SUCCESS || find_kernel_alias(s->name, a))
		return 0;
	why = text_of_libpfm_error(ret);
	event_suggest(s->name, pmu, each_event_name, near, sizeof(near));
	if (why)
		return diag_fail(d, EINVAL, "cannot encode event '%s': %s (libpfm4: %s)%s", s->text, why,
				 pfm_strerror(ret), near);
	return diag_fail(d, EINVAL, "unknown event '%s'%s; use `auto` for the best available event", s->text, near);
}

int event_encode(const char *name, struct perf_event_attr *attr, struct diag *d)
{
	struct event_list list;
	struct event_pmu pmu;
	int ret = event_parse_list(name, &list, d);

	if (ret == 0 && list.nr != 1)
		ret = diag_fail(d, EINVAL, "'%s' is a list of events; one event is needed", name);
	if (ret)
		return ret;
	event_pmu_read(&pmu);
	ret = event_find(&list.spec[0], &pmu, attr, d);
	if (ret == 0) {
		attr->exclude_user |= list.spec[0].exclude_user;
		attr->exclude_kernel |= list.spec[0].exclude_kernel;
		attr->precise_ip = list.spec[0].precise > 0 ? (unsigned)list.spec[0].precise & 3 : 0;
	}
	return ret;
}
