/* SPDX-License-Identifier: MIT */
#include "agent/recorder/doctor/doctor.h"

#include "agent/recorder/perf/event.h"
#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/confine/confine.h"

#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KERNEL "/proc/sys/kernel/"
#define RING_KIB 4096 /* ring buffer that a recording locks for each CPU, if permitted */
#define NOFILE_WANTED 4096 /* enough for a descriptor per thread and CPU, with 1,000 threads and 4 CPUs */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

static bool has_capability(uint64_t effective, int capability)
{
	return effective >> capability & 1;
}

static void add_user_findings(struct doctor *d)
{
	char text[64], held[128] = "";
	uint64_t effective;
	struct passwd *p = getpwuid(geteuid());
	static const struct {
		int capability;
		const char *name;
	} of_use[] = { { CAP_PERFMON, "perfmon" }, { CAP_SYS_ADMIN, "sys_admin" }, { CAP_SYS_PTRACE, "sys_ptrace" },
		       { CAP_IPC_LOCK, "ipc_lock" } };

	proc_read_value("/proc/self/status", "CapEff", text, sizeof(text));
	effective = strtoull(text, NULL, 16);
	d->user_namespace = !proc_is_first_namespace(PROC_NAMESPACE_USER);
	if (d->user_namespace) /* the kernel asks for capabilities of its first namespace */
		effective = 0;
	d->root = proc_is_root_of_machine();
	d->perfmon = has_capability(effective, CAP_PERFMON) || has_capability(effective, CAP_SYS_ADMIN);
	d->lock = has_capability(effective, CAP_IPC_LOCK);
	for (size_t i = 0; i < sizeof(of_use) / sizeof(of_use[0]); i++)
		if (has_capability(effective, of_use[i].capability))
			snprintf(held + strlen(held), sizeof(held) - strlen(held), "%s%s", *held ? ", " : "", of_use[i].name);
	doctor_add_finding(d, "machine", "user", DOCTOR_FACT, "%s (%d)%s; relevant capabilities: %s", p ? p->pw_name : "", (int)geteuid(),
			   d->user_namespace ? " of a user namespace, without rights outside of it" : "", *held ? held : "none");
	proc_read_value("/proc/self/status", "Seccomp", text, sizeof(text));
	d->seccomp = atoi(text) == 2;
	if (d->seccomp)
		doctor_add_finding(d, "machine", "seccomp", DOCTOR_FACT, "a seccomp filter restricts this process");
}

/* Reports the means by which parsers of foreign data give up rights (jitreg/confine). */
static void add_confinement_findings(struct doctor *d)
{
	const struct confine_state s = confine_state();

	if (s.landlock_abi)
		doctor_add_finding(d, "machine", "landlock", DOCTOR_YES, "version %d: commands that read traces reach only their files",
				   s.landlock_abi);
	else
		doctor_add_finding(d, "machine", "landlock", DOCTOR_LESS, "unavailable (Linux 5.13 or later, and in the kernel's "
				   "list lsm=): commands that read traces reach all of the user's files");
	doctor_add_finding(d, "machine", "seccomp filters", s.filters ? DOCTOR_YES : DOCTOR_LESS, "%s", s.filters ?
			   "parsers of others' bytes execute nothing and have no sockets" :
			   "unavailable: parsers of others' bytes have all system calls");
}

static void add_kernel_findings(struct doctor *d)
{
	struct utsname u = { 0 };
	char model[256], flags[4096], text[64];
	struct event_pmu pmu;
	long long value;

	uname(&u);
	proc_read_value("/proc/cpuinfo", "model name", model, sizeof(model));
	proc_read_value("/proc/cpuinfo", "flags", flags, sizeof(flags));
	d->virtual_machine = strstr(flags, " hypervisor");
	event_pmu_read(&pmu);
	doctor_add_finding(d, "machine", "kernel", DOCTOR_FACT, "Linux %s, %s", u.release, u.machine);
	doctor_add_finding(d, "machine", "processor", DOCTOR_FACT, "%ld x %s%s; %s", sysconf(_SC_NPROCESSORS_ONLN), model,
			   d->virtual_machine ? ", in a virtual machine" : "",
			   pmu.counters ? "with hardware counters" : "no hardware counters (PMU)");
	if (access("/.dockerenv", F_OK) == 0)
		d->container = DOCTOR_DOCKER;
	else if (access("/run/.containerenv", F_OK) == 0)
		d->container = DOCTOR_PODMAN;
	else if (getenv("KUBERNETES_SERVICE_HOST"))
		d->container = DOCTOR_KUBERNETES;
	if (d->container)
		doctor_add_finding(d, "machine", "container", DOCTOR_FACT, "%s", doctor_containers[d->container]);
	d->paranoid = proc_read_number(KERNEL "perf_event_paranoid", &value) ? (int)value : -2;
	snprintf(text, sizeof(text), "%d", d->paranoid);
	doctor_add_finding(d, "machine", "kernel.perf_event_paranoid", DOCTOR_FACT, "%s", d->paranoid == -2 ? "unreadable" : text);
}

static void add_limit_findings(struct doctor *d)
{
	long long kib = 516, rate, percent, scope;
	struct doctor_finding *f;
	struct rlimit r;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	proc_read_number(KERNEL "perf_event_mlock_kb", &kib);
	getrlimit(RLIMIT_MEMLOCK, &r);
	if (d->lock || r.rlim_max == RLIM_INFINITY || kib + (long long)(r.rlim_max / 1024 / (rlim_t)cpus) >= RING_KIB + 4) {
		doctor_add_finding(d, "limits", "memory for rings", DOCTOR_YES, "%d KiB of ring buffer per CPU", RING_KIB);
	} else {
		f = doctor_add_finding(
			d, "limits", "memory for rings", DOCTOR_LESS,
			"%lld KiB of ring buffer per CPU instead of %d "
			"(kernel.perf_event_mlock_kb is %lld, `ulimit -l` %llu): samples may be lost when all CPUs are busy",
			kib + (long long)(r.rlim_max / 1024 / (rlim_t)cpus), RING_KIB, kib, (unsigned long long)(r.rlim_max / 1024));
		doctor_set_remedy(f,
				  "sudo sysctl kernel.perf_event_mlock_kb=%d, or raise `ulimit -l` (memlock in "
				  "/etc/security/limits.conf)",
				  RING_KIB + 4);
	}
	getrlimit(RLIMIT_NOFILE, &r);
	if (r.rlim_max >= NOFILE_WANTED) {
		doctor_add_finding(d, "limits", "open files", DOCTOR_YES, "%llu", (unsigned long long)r.rlim_max);
	} else {
		f = doctor_add_finding(d, "limits", "open files", DOCTOR_LESS,
				       "%llu: attaching needs one per thread and CPU, so at most %llu "
				       "threads",
				       (unsigned long long)r.rlim_max, (unsigned long long)(r.rlim_max / (rlim_t)cpus));
		doctor_set_remedy(f, "ulimit -Hn %d (as root, or nofile in /etc/security/limits.conf)", NOFILE_WANTED);
	}
	if (proc_read_number(KERNEL "perf_event_max_sample_rate", &rate)) {
		bool enough = rate >= EVENT_RATE_DEFAULT;

		f = doctor_add_finding(
			d, "limits", "samples per second", enough ? DOCTOR_YES : DOCTOR_LESS, "%lld per CPU%s", rate,
			enough ? "" :
				 " (kernel.perf_event_max_sample_rate, which the kernel lowers after long interrupts and never raises)");
		if (!enough && proc_read_number(KERNEL "perf_cpu_time_max_percent", &percent))
			doctor_set_remedy(f, "sudo sysctl kernel.perf_cpu_time_max_percent=25 kernel.perf_event_max_sample_rate=100000");
	}
	if (proc_read_number(KERNEL "yama/ptrace_scope", &scope) && scope > 0 && !d->root) {
		f = doctor_add_finding(d, "limits", "memory of others", DOCTOR_LESS,
				       "kernel.yama.ptrace_scope is %lld: `tailor attach` "
				       "cannot read the GDB JIT interface",
				       scope);
		doctor_set_remedy(f, "sudo sysctl kernel.yama.ptrace_scope=0");
	} else {
		doctor_add_finding(d, "limits", "memory of others", DOCTOR_YES, "readable for %s",
				   d->root ? "all processes" :
				   d->user_namespace ? "processes of this user namespace" : "processes of this user");
	}
}

void doctor_check_machine(struct doctor *d)
{
	add_kernel_findings(d);
	add_confinement_findings(d);
	add_user_findings(d);
	add_limit_findings(d);
}

int doctor_check_process(struct doctor *d, pid_t pid)
{
	struct doctor_finding *f;
	struct attach_target t;
	struct diag diag;
	char socket[64];
	pid_t recorder;
	int ret = attach_target_inspect(pid, &t, &diag);

	if (ret) {
		doctor_add_finding(d, "process", "attach", DOCTOR_NO, "%s", diag.text);
		return ret;
	}
	doctor_add_finding(d, "process", "attach", DOCTOR_YES, "process %d can be attached to", (int)pid);
	for (int i = 0; i < t.nr_notices; i++)
		doctor_add_finding(d, "process", "notice", DOCTOR_LESS, "%s", t.notice[i]);
	if (t.own_pid != pid)
		doctor_add_finding(d, "process", "namespace", DOCTOR_FACT, "in a container, where its PID is %d", (int)t.own_pid);
	if (t.has_agent) {
		if (attach_target_find_recorder(pid, socket, sizeof(socket), &recorder) == 0) {
			f = doctor_add_finding(d, "process", "agent", DOCTOR_YES, "loaded; its recorder is process %d", (int)recorder);
			doctor_set_remedy(f, "tailor status %d", (int)pid);
		} else {
			f = doctor_add_finding(d, "process", "agent", DOCTOR_LESS, "loaded, but its recorder has exited");
			doctor_set_remedy(f, "tailor attach %d, or restart the process under `tailor run`", (int)pid);
		}
	} else {
		f = doctor_add_finding(d, "process", "agent", DOCTOR_FACT,
				       "not loaded: tags and call stacks of its JIT are available "
				       "in part only%s",
				       t.is_static ? " (statically linked program)" :
				       t.is_32_bit ? " (32-bit program)" :
						     "");
		if (!t.is_static && !t.is_32_bit)
			doctor_set_remedy(f, "start it with `tailor run`, or `tailor run --dormant`");
	}
	return 0;
}
