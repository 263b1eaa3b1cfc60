/* SPDX-License-Identifier: MIT */
#include "analyzer/query/without_debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take(struct without_debug_list *l, const struct without_debug *w)
{
	uint32_t at = l->nr < WITHOUT_DEBUG_MAX ? l->nr++ : WITHOUT_DEBUG_MAX - 1;

	for (; at && l->image[at - 1].share < w->share; at--)
		l->image[at] = l->image[at - 1];
	if (at < WITHOUT_DEBUG_MAX - 1 || l->image[at].share < w->share)
		l->image[at] = *w;
}

static void find_packages(const struct model *m, bool lines, struct without_debug_list *l)
{
	struct dpkg_file file[WITHOUT_DEBUG_MAX];
	size_t nr = 0;

	for (uint32_t i = 0; i < l->nr; i++) {
		bool is_here = model_is_here(model_find_lacking(m, l->image[i].path, lines));

		file[i] = (struct dpkg_file){ is_here ? l->image[i].path : "", "" };
		nr += is_here;
	}
	if (nr)
		dpkg_find_packages(DPKG_LISTS, file, l->nr);
	for (uint32_t i = 0; i < l->nr; i++)
		if (*file[i].package)
			dpkg_debug_package(file[i].package, l->image[i].package);
}

/* Lists the WITHOUT_DEBUG_MAX largest images that lack symbols or lines, and have a share and number of samples that is worth a sentence.
 * share: of each image, or NULL. It is freed here. */
static void find(const struct report *r, double *share, double samples, bool lines, struct without_debug_list *out)
{
	*out = (struct without_debug_list){ .nr = 0 };
	for (uint32_t i = 0; share && i < r->a->nr_images; i++) {
		const char *path = r->a->image[i].path;
		bool is_worth = share[i] >= WITHOUT_DEBUG_SHARE && share[i] * samples >= WITHOUT_DEBUG_SAMPLES;
		const struct image_file *f = is_worth ? model_find_lacking(r->model, path, lines) : NULL;

		if (f)
			take(out, &(struct without_debug){ path, share[i], f->reason, f->elf != NULL, "" });
	}
	find_packages(r->model, lines, out);
	free(share);
}

static double share_of(const struct report *r, const struct report_group *by, uint32_t i)
{
	double total = report_measure(r, &by->g.total);

	return total > 0 ? report_measure(r, &by->g.sum[i]) / total : 0;
}

void without_names_find(const struct report *r, const struct report_group *by, struct without_debug_list *out)
{
	double *share = calloc(r->a->nr_images + 1, sizeof(*share));

	for (uint32_t i = 0; share && i < by->g.nr; i++) {
		const struct function *f = &r->a->function[report_value(by, i, 0)];

		if (!f->symbol && !f->jit && !f->unknown)
			share[f->image] += share_of(r, by, i);
	}
	find(r, share, by->g.total.samples, false, out);
}

void without_lines_find(const struct report *r, const struct report_group *by, struct without_debug_list *out)
{
	double *share = calloc(r->a->nr_images + 1, sizeof(*share));

	for (uint32_t i = 0; share && i < by->g.nr; i++)
		share[report_value(by, i, 0)] += share_of(r, by, i);
	find(r, share, by->g.total.samples, true, out);
}

const char *without_debug_cause(const struct without_debug *w, bool lines, char text[WITHOUT_DEBUG_TEXT])
{
	if (!w->is_read)
		snprintf(text, WITHOUT_DEBUG_TEXT, "its file is not in the trace%s%.300s%s", *w->reason ? " (" : "", w->reason,
			 *w->reason ? ")" : "");
	else
		snprintf(text, WITHOUT_DEBUG_TEXT, "%s%s%.300s", lines ? "it has no line table" : "its symbols were taken out",
			 *w->reason ? ", and " : "", w->reason);
	return text;
}

/* Checks whether a file is of a package of PyPI or npm, which have no debug files. The Python packages of a distribution are in
 * /usr/lib/python3, which is left out. */
static bool is_of_package_manager(const char *path)
{
	return strstr(path, "/site-packages/") || strstr(path, "/node_modules/") ||
	       (strstr(path, "/dist-packages/") && strncmp(path, "/usr/lib/python3/", strlen("/usr/lib/python3/")) != 0);
}

const char *without_debug_remedy(const struct without_debug *w, bool lines, char text[WITHOUT_DEBUG_TEXT])
{
	static const char suffix[] = "-dbgsym";
	size_t bytes = strlen(w->package), tail = sizeof(suffix) - 1;

	if (*w->package && bytes > tail && strcmp(w->package + bytes - tail, suffix) == 0)
		snprintf(text, WITHOUT_DEBUG_TEXT, "Record with --debuginfod, or `apt install %s` (from the distribution's archive of "
			 "debug symbols), and record again, or report with --debug-path /usr/lib/debug.", w->package);
	else if (*w->package)
		snprintf(text, WITHOUT_DEBUG_TEXT, "`apt install %s`, and record again, or report with --debug-path /usr/lib/debug.",
			 w->package);
	else if (!w->is_read)
		snprintf(text, WITHOUT_DEBUG_TEXT, "Record again while it is there.");
	else if (is_of_package_manager(w->path))
		snprintf(text, WITHOUT_DEBUG_TEXT, "Its package manager has no debug packages: build it with %s, and record again.",
			 lines ? "-g" : "its symbols");
	else
		snprintf(text, WITHOUT_DEBUG_TEXT, "Install its debug package (PACKAGE-dbgsym or -dbg, -debuginfo), or build it with %s, "
			 "and record again; --debuginfod fetches a distribution's.", lines ? "-g" : "its symbols");
	return text;
}
