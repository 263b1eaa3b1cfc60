/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/calibration.h"

#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Sets the slowdown for *last + 1 to n processors, by linear interpolation up to factor, and *last to n. An n that is *last, or that the
 * table does not have, only marks the table as known. Returns false if n is less than *last, or if factor is not in [1, 100).
 */
static bool set_slowdown(struct calibration *c, uint32_t *last, unsigned n, double factor)
{
	if (!(factor >= 1 && factor < 100) || n < *last)
		return false;
	c->slowdown[0] = c->slowdown[1] = 1;
	if (n > *last && n < SIMULATE_SLOWDOWNS) {
		for (uint32_t i = *last + 1; i <= n; i++)
			c->slowdown[i] = c->slowdown[*last] + (factor - c->slowdown[*last]) * (i - *last) / (n - *last);
		*last = n;
	}
	return true;
}

static bool read_line(struct calibration *c, uint32_t *last, const char *line)
{
	const bool spread = strncmp(line, "spread ", 7) == 0, octave = strncmp(line, "octave ", 7) == 0;
	double value;
	unsigned n;

	if (sscanf(line, "copied %lf %lf", &c->copied, &c->copied_others) == 2)
		return c->copied > 0 && c->copied < 1000 && c->copied_others >= 0 && c->copied_others < 1000;
	if (spread || octave) {
		if (sscanf(line + 7, "%lf", &value) != 1 || !(value > 0 && value <= 1))
			return false;
		*(spread ? &c->spread : &c->octave) = value;
		return true;
	}
	return sscanf(line, "%u %lf", &n, &value) == 2 && set_slowdown(c, last, n, value);
}

int calibration_read(const char *path, struct calibration *c, struct diag *d)
{
	int fd = path ? regular_file_open(path) : -1;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	const int error = errno;
	uint32_t last = 1, lines = 0;
	bool ok = true;
	char line[128];

	memset(c, 0, sizeof(*c));
	if (!path)
		return 0;
	if (!f) {
		if (fd >= 0)
			close(fd);
		return diag_fail(d, error, "cannot open '%s': %s", path,
				 error == ENOENT && access(path, F_OK) == 0 ? "it is no file" : strerror(error));
	}
	for (; ok && fgets(line, sizeof(line), f); lines++)
		ok = read_line(c, &last, line);
	fclose(f);
	if (!ok || !lines)
		return diag_fail(d, EINVAL, "'%s' must have lines PROCESSORS FACTOR, the fewest processors first, and factors from 1 to "
				 "100; and may have 'spread' and 'octave' with a number up to 1, and 'copied' with two", path);
	for (uint32_t i = last + 1; c->slowdown[0] > 0 && i < SIMULATE_SLOWDOWNS; i++)
		c->slowdown[i] = c->slowdown[last];
	return 0;
}
