/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/fleet.h"

#include "analyzer/fleet/store_profiles.h"
#include "analyzer/output/gzip.h"
#include "analyzer/wire/otlp.h"
#include "analyzer/wire/pprof.h"
#include "jitreg/output/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int write_file(const struct protobuf *made, const char *path, struct diag *d)
{
	size_t nr = strlen(path);
	struct output_file o = { 0 };
	int ret = output_file_open_stream(&o, path, d);
	FILE *zipped;

	if (ret == 0 && nr > 3 && strcmp(path + nr - 3, ".gz") == 0) {
		zipped = gzip_stream(o.to);
		if (!zipped) {
			output_file_drop(&o);
			return diag_fail(d, ENOMEM, "out of memory");
		}
		o.to = zipped;
	}
	if (ret)
		return ret;
	if (made->nr)
		fwrite(made->bytes, 1, made->nr, o.to);
	return output_file_end(&o, d);
}

int fleet_export(struct store *s, const struct fleet_what *what, const char *format, const char *path, struct diag *d)
{
	bool otlp = strcmp(format, "otlp") == 0;
	struct wire_profiles p = { 0 };
	struct protobuf made = { 0 };
	char *event = NULL;
	int ret;

	if (!otlp && strcmp(format, "pprof") != 0)
		return diag_fail(d, EINVAL, "unknown format '%s': otlp or pprof", format);
	if (!otlp && !what->event)
		event = store_profiles_main_event(s, &what->window, d);
	ret = store_profiles_add(s, what, otlp || what->event ? what->event : event, &p, NULL, NULL, d);
	if (ret == 0 && !p.samples.nr)
		ret = diag_fail(d, ENODATA, "no epoch is in that window");
	if (ret == 0) {
		if (otlp)
			otlp_write(&p, &made);
		else
			pprof_write(&p, &made);
		ret = made.failed ? diag_fail(d, ENOMEM, "out of memory") : write_file(&made, path, d);
	}
	protobuf_fini(&made);
	wire_fini(&p);
	free(event);
	return ret;
}
