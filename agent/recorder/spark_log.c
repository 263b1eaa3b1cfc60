/* SPDX-License-Identifier: MIT */
#include "jitreg/base/message.h"
#include "agent/recorder/spark_log.h"

#include "agent/recorder/own_command.h"
#include "jitreg/base/file_changes.h"
#include "jitreg/confine/confine.h"
#include "jitreg/confine/steward.h"
#include "jitreg/protocol/env.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];

/* Is this a folder into which the user's Spark can write?  If not, sets errno.  Spark itself would end with an error then. */
static bool is_usable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	errno = ENOTDIR;
	return S_ISDIR(st.st_mode) && access(path, W_OK | X_OK) == 0;
}

int spark_log_prepare(const struct session_options *o, struct diag *d)
{
	char name[PATH_MAX];

	if (*o->output == '-' || (size_t)snprintf(name, sizeof(name), "%s.spark", o->output) >= sizeof(name))
		return diag_fail(d, EINVAL, "--spark needs a trace that is a file");
	if ((mkdir(name, 0700) && errno != EEXIST) || !is_usable(name) || !realpath(name, folder))
		return diag_fail(d, errno, "cannot use '%s' as the folder for Spark's event log: %s", name, strerror(errno));
	if (strlen(folder) >= TAILOR_SPARK_BYTES)
		return diag_fail(d, ENAMETOOLONG, "the folder for Spark's event log has a name of more than %d bytes: '%.100s'",
				 TAILOR_SPARK_BYTES, folder);
	return setenv(TAILOR_ENV_SPARK, folder, 1) ? diag_fail(d, ENOMEM, "out of memory") : 0;
}

char *const *spark_log_words(const struct session_options *o)
{
	static char *argv[] = { "/proc/self/exe", "plan", "--spark", folder, NULL, NULL, NULL };

	argv[4] = (char *)(uintptr_t)o->output;
	argv[5] = confine_is_off() ? (char *)CONFINE_OPTION : NULL;
	return argv;
}

void spark_log_add(const struct session_options *o)
{
	unsetenv(TAILOR_ENV_SPARK);
	if (file_changes.remove(folder) == 0) { /* only an empty folder can be removed */
		message_print("no Spark application wrote an event log into '%s'; the trace has no plans of Spark", folder);
		return;
	}
	if (steward_is_there())
		own_command_by_steward(SESSION_SPARK, "plans of Spark");
	else
		own_command_run(spark_log_words(o), "plans of Spark");
}
