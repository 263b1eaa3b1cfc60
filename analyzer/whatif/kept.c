/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/kept.h"

#include "jitreg/base/crc32c.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/regular_file.h"
#include "jitreg/output/output_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "tailor-whatif 1"
#define PREDICTIONS_MAX 10000u

int kept_checksum(const char *path, struct kept *k, struct diag *d)
{
	static char buffer[1 << 16];
	int fd = regular_file_open(path), ret;
	ssize_t n;

	if (fd < 0)
		return diag_fail(d, errno, "cannot open '%s': %s", path, strerror(errno));
	k->crc32c = 0;
	k->bytes = 0;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		k->crc32c = crc32c(k->crc32c, buffer, (size_t)n);
		k->bytes += (uint64_t)n;
	}
	ret = n < 0 ? diag_fail(d, errno, "cannot read '%s': %s", path, strerror(errno)) : 0;
	close(fd);
	return ret;
}

bool kept_add(struct kept *k, const char *change, double completion_ns, double low_ns, double high_ns)
{
	struct kept_prediction *to;

	if (k->nr >= PREDICTIONS_MAX || !ARRAY_GROW(*k))
		return false;
	to = &k->at[k->nr++];
	*to = (struct kept_prediction){ .completion_ns = completion_ns, .low_ns = low_ns, .high_ns = high_ns };
	snprintf(to->change, sizeof(to->change), "%s", change);
	for (char *c = to->change; *c; c++)
		*c = (unsigned char)*c < ' ' ? ' ' : *c;
	return true;
}

int kept_write(const struct kept *k, const char *path, struct diag *d)
{
	static const struct output_form predictions = { "predictions", FIRST_LINE, sizeof(FIRST_LINE) - 1, 0, 0 };
	struct output_file o = { .form = &predictions };
	int ret = output_file_open_stream(&o, path, d);
	FILE *f = o.to;

	if (ret)
		return ret;
	fprintf(f, FIRST_LINE "\ncrc32c %08x\nbytes %llu\nmeasured_ns %.0f\n", k->crc32c, (unsigned long long)k->bytes, k->measured_ns);
	for (uint32_t i = 0; i < k->nr; i++)
		fprintf(f, "predicted_ns %.0f %.0f %.0f %s\n", k->at[i].completion_ns, k->at[i].low_ns, k->at[i].high_ns, k->at[i].change);
	return output_file_end(&o, d);
}

static FILE *open_kept(const char *path)
{
	int fd = regular_file_open(path);
	char line[64];
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !f)
		close(fd);
	if (f && (!fgets(line, sizeof(line), f) || strcmp(line, FIRST_LINE "\n") != 0)) {
		fclose(f);
		f = NULL;
	}
	return f;
}

bool kept_is(const char *path)
{
	FILE *f = open_kept(path);

	if (f)
		fclose(f);
	return f != NULL;
}

int kept_read(struct kept *k, const char *path, struct diag *d)
{
	FILE *f = open_kept(path);
	unsigned long long bytes;
	char line[512];
	int ret = 0;

	memset(k, 0, sizeof(*k));
	if (!f)
		return diag_fail(d, EINVAL, "'%s' holds no predictions", path);
	while (ret == 0 && fgets(line, sizeof(line), f)) {
		double completion, low, high;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "predicted_ns %lf %lf %lf %n", &completion, &low, &high, &at) == 3 && at)
			ret = !isfinite(completion + low + high) ? -EBADMSG :
			      kept_add(k, line + at, completion, low, high) ? 0 : -ENOMEM;
		else if (sscanf(line, "bytes %llu", &bytes) == 1)
			k->bytes = bytes;
		else if (sscanf(line, "crc32c %x", &k->crc32c) != 1 && sscanf(line, "measured_ns %lf", &k->measured_ns) != 1)
			ret = -EBADMSG;
	}
	fclose(f);
	if (ret == 0 && !k->nr)
		ret = -EBADMSG;
	return ret ? diag_fail(d, -ret, "'%s' is not as `--keep` writes it", path) : 0;
}

void kept_fini(struct kept *k)
{
	free(k->at);
	memset(k, 0, sizeof(*k));
}
