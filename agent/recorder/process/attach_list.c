/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/attach_list.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/process_names.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct attach_target *attach_list_find(const struct attach_list *l, pid_t pid)
{
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->at[i].pid == pid)
			return &l->at[i];
	return NULL;
}

int attach_list_add(struct attach_list *l, pid_t pid, struct diag *d)
{
	int ret;

	if (attach_list_find(l, pid))
		return 0;
	if (!ARRAY_GROW(*l))
		return diag_fail(d, ENOMEM, "out of memory for processes");
	ret = attach_target_inspect(pid, &l->at[l->nr], d);
	l->nr += ret == 0;
	return ret;
}

static int add_named_process(void *list, pid_t pid)
{
	struct attach_list *l = list;
	struct diag d = { "" };

	if (attach_list_add(l, pid, &d) && l->nr_left_out++ == 0)
		l->left_out = d;
	return 0;
}

static int fail_without_named(const struct names_wanted *w, struct diag *d)
{
	if (w->program)
		return diag_fail(d, ESRCH, "no process executes '%s'%s%s%s (`readlink /proc/PID/exe` says what one executes)", w->program,
				 w->expression ? ", nor has one a name with a match of '" : "", w->expression ? w->expression : "",
				 w->expression ? "'" : "");
	return diag_fail(d, ESRCH, "no process has a name with a match of '%s' (`ps -e` lists names)", w->expression);
}

int attach_list_add_named(struct attach_list *l, const struct names_wanted *w, struct diag *d)
{
	struct process_names *names;
	int ret = process_names_open(w, &names);

	if (ret == 0) {
		ret = process_names_each(names, add_named_process, l);
		process_names_close(names);
	}
	if (ret)
		return diag_fail(d, -ret, "cannot look for processes of '%s': %s", w->expression ? w->expression : w->program,
				 strerror(-ret));
	if (l->nr == 0 && l->nr_left_out)
		*d = l->left_out;
	else if (l->nr == 0)
		fail_without_named(w, d);
	return l->nr ? 0 : -ESRCH;
}

int attach_list_add_service(struct attach_list *l, const struct service_wanted *w, struct diag *d)
{
	int ret = service_each_process(w, add_named_process, l);

	if (ret)
		return diag_fail(d, -ret, "cannot look for processes of a service: %s", strerror(-ret));
	if (l->nr == 0 && l->nr_left_out)
		*d = l->left_out;
	else if (l->nr == 0)
		diag_fail(d, ESRCH, "no process is in the control group of %s '%s' (%s)", w->unit ? "the unit" : "a container",
			  w->unit ? w->unit : w->container, proc_is_first_namespace(PROC_NAMESPACE_CGROUP) ? "`systemd-cgls` lists them" :
			  SERVICE_GROUPS_HIDDEN);
	return l->nr ? 0 : -ESRCH;
}

void attach_list_fini(struct attach_list *l)
{
	free(l->at);
	*l = (struct attach_list){ 0 };
}
