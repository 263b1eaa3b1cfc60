/* SPDX-License-Identifier: MIT */
/*
 * Programs that live in unusual ways: odd CASE.  Each does a little work, announces a code object "code_CASE" where it lives
 * (a child, another user, behind a filter), prints the same whether an agent is in it or not, and ends with 0, or as its case
 * says.  `odd --list` prints the cases, one a line: name, how often its code must be heard, exit status, sentence.
 * What the agent does not take (in a forked child, its recorder may be starved) is said on stderr.
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static const char *self, *the_case;
static unsigned char *code;
static volatile unsigned long sink;

/* mov rax, rdi; 1: dec rax; jnz 1b; ret */
static const unsigned char loop[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };

static void make_code(void)
{
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		_exit(77);
	memcpy(code, loop, sizeof(loop));
}

static void run_code(unsigned long turns)
{
	sink += ((unsigned long (*)(unsigned long))(uintptr_t)code)(turns);
}

/* What a JIT does: announce, run. */
static void announce(void)
{
	static const char refused[] = "refused\n";
	char name[64];

	snprintf(name, sizeof(name), "code_%s", the_case);
	if (jitreg_code_load((uintptr_t)code, sizeof(loop), 1, name, loop) && jitreg_enabled() &&
	    write(2, refused, sizeof(refused) - 1) < 0)
		_exit(9);
	run_code(3000000);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int in_child(void (*what)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		what();
		fflush(stdout);
		_exit(3);
	}
	return wait_for(pid) == 3 ? 0 : 1;
}

/* ------------------------------------------------------------------------------------------------------- processes */

static int case_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl(self, self, "leaf", (char *)NULL);
		_exit(9);
	}
	announce();
	return wait_for(pid);
}

static int case_spawn(void)
{
	char *argv[] = { (char *)(uintptr_t)self, (char[]){ "leaf" }, NULL };
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		return 9;
	announce();
	return wait_for(pid);
}

static int case_exec(void)
{
	announce();
	execl(self, self, "leaf", (char *)NULL);
	return 9;
}

static int case_exec_bare(void)
{
	char *argv[] = { (char *)(uintptr_t)self, (char[]){ "leaf" }, NULL }, *bare[] = { NULL };

	announce();
	execve(self, argv, bare);
	return 9;
}

static int case_leaf(void)
{
	announce();
	puts("leaf");
	return 0;
}

static int case_fork_storm(void)
{
	int bad = 0;

	announce();
	for (int i = 0; i < 300; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i % 7);
		bad += wait_for(pid) != i % 7;
	}
	return bad != 0;
}

/* Past libc: no fork handler runs, and its caches are its parent's. */
static int case_clone(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, 0ul, 0ul, 0ul, 0ul);

	if (pid == 0) {
		announce();
		syscall(SYS_exit_group, 3);
	}
	return wait_for(pid) == 3 ? 0 : 1;
}

static void be_daemon(void)
{
	setsid();
	if (chdir("/"))
		_exit(9);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	announce();
	/* whoever is 3 now is a file of ours */
	if (open("/dev/null", O_WRONLY) != 3 || write(3, "x", 1) != 1)
		_exit(9);
}

static int case_daemon(void)
{
	return in_child(be_daemon);
}

static void be_nobody(void)
{
	if (getuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		_exit(9);
	announce();
	if (in_child(announce))
		_exit(9);
}

static int case_user(void)
{
	announce();
	return in_child(be_nobody);
}

static void be_jailed(void)
{
	if (getuid() == 0 && (chroot("/proc") || chdir("/")))
		_exit(9);
	announce();
	if (in_child(announce))
		_exit(9);
}

static int case_chroot(void)
{
	return in_child(be_jailed);
}

static void be_alone(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC) && errno != EPERM && errno != ENOSPC)
		_exit(9);
	announce();
	if (in_child(announce))
		_exit(9);
}

static int case_userns(void)
{
	return in_child(be_alone);
}

/* ---------------------------------------------------------------------------------------------------------- filters */

static int filter(uint32_t forbidden_action)
{
	static const int allowed[] = {
		SYS_write, SYS_read, SYS_exit, SYS_exit_group, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_brk, SYS_futex, SYS_rt_sigreturn,
		SYS_gettid, SYS_clock_gettime, SYS_nanosleep, SYS_newfstatat, SYS_madvise, SYS_rt_sigprocmask, SYS_clone, SYS_clone3,
		SYS_set_robust_list, SYS_rseq, SYS_sched_yield,
	};
	enum { NR = sizeof(allowed) / sizeof(allowed[0]) };
	struct sock_filter rule[NR * 2 + 2] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0) };
	struct sock_fprog program = { 0, rule };
	int n = 1;

	for (int i = 0; i < NR; i++) {
		rule[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
		rule[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	rule[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, forbidden_action);
	program.len = (unsigned short)n;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Deadly for who calls anything else. */
static int case_seccomp(void)
{
	puts("filtered");
	fflush(stdout);
	if (filter(SECCOMP_RET_KILL_PROCESS))
		return 9;
	announce();
	_exit(0);
}

static void *announce_in_thread(void *unused)
{
	(void)unused;
	announce();
	return NULL;
}

/* A filter that fails other calls with EPERM, in threads and children, too. */
static int case_seccomp_threads(void)
{
	pthread_t t;

	if (filter(SECCOMP_RET_ERRNO | EPERM))
		return 9;
	announce();
	if (pthread_create(&t, NULL, announce_in_thread, NULL) || pthread_join(t, NULL))
		return 8;
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- signals */

static volatile sig_atomic_t caught;

static void on_signal(int signo)
{
	caught += signo > 0;
}

static int case_all_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal }, now;
	sigset_t all, back;
	int wrong = 0;

	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (signo != SIGKILL && signo != SIGSTOP && (signo < 32 || signo >= SIGRTMIN) && sigaction(signo, &a, NULL))
			wrong++;
	announce();
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (signo != SIGKILL && signo != SIGSTOP && (signo < 32 || signo >= SIGRTMIN))
			raise(signo);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigprocmask(SIG_BLOCK, NULL, &back);
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (signo != SIGKILL && signo != SIGSTOP && (signo < 32 || signo >= SIGRTMIN))
			wrong += sigismember(&back, signo) != 1 || sigaction(signo, NULL, &now) || now.sa_handler != on_signal;
	run_code(20000000);
	printf("caught %d wrong %d\n", (int)caught, wrong);
	return wrong != 0;
}

static int case_sigprof(void)
{
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } };

	signal(SIGPROF, on_signal);
	setitimer(ITIMER_PROF, &every, NULL);
	announce();
	while (caught < 10)
		run_code(1000000);
	puts("ten ticks");
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- the rest */

static int case_deepbind(void)
{
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_DEEPBIND | RTLD_LOCAL);
	const char *(*version)(void) = library ? (const char *(*)(void))(uintptr_t)dlsym(library, "zlibVersion") : NULL;

	announce();
	puts(version && version()[0] == '1' ? "zlib" : "no zlib");
	if (library)
		dlclose(library);
	return 0;
}

static int case_pkey(void)
{
	int key = (int)syscall(SYS_pkey_alloc, 0ul, 1ul /* PKEY_DISABLE_ACCESS: the bytes cannot be read, and run */);

	if (key >= 0)
		syscall(SYS_pkey_mprotect, code, 4096ul, (unsigned long)(PROT_READ | PROT_EXEC), (unsigned long)key);
	announce();
	run_code(20000000);
	return 0;
}

static int case_exit_at_once(void)
{
	announce();
	puts("gone");
	fflush(stdout);
	_exit(5);
}

static int case_crash(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	announce();
	raise(SIGSEGV);
	return 9;
}

static int case_abort(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	announce();
	abort();
}

static void *exit_at_once(void *unused)
{
	return unused;
}

static int case_thousand_threads(void)
{
	static pthread_t t[1000];
	pthread_attr_t small;
	int made = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	announce();
	for (int i = 0; i < 1000; i++)
		made += pthread_create(&t[i], &small, exit_at_once, NULL) == 0;
	for (int i = 0; i < made; i++)
		pthread_join(t[i], NULL);
	printf("%d threads\n", made);
	return 0;
}

/* The program ends while its threads begin. */
static int case_exit_while_starting(void)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	announce();
	for (int i = 0; i < 50; i++)
		if (pthread_create(&t, &small, exit_at_once, NULL))
			return 9;
	exit(4);
}

static int case_blocked_threads(void)
{
	sigset_t all;
	pthread_t t;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (pthread_create(&t, NULL, announce_in_thread, NULL))
		return 9;
	pthread_join(t, NULL);
	return 0;
}

static int case_detached(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, announce_in_thread, NULL))
		return 9;
	pthread_detach(t);
	pthread_exit(NULL);
}

#define CASES(X) \
	X(leaf, 1, 0, "an ordinary program") \
	X(vfork, 1, 0, "vfork, and exec in the child") \
	X(spawn, 1, 0, "posix_spawn") \
	X(exec, 1, 0, "exec of a program that is preloaded") \
	X(exec_bare, 1, 0, "exec of a program that is not preloaded, without any environment") \
	X(fork_storm, 1, 0, "three hundred children that end at once") \
	X(clone, 1, 0, "clone without libc") \
	X(daemon, 1, 0, "a daemon that closes every descriptor and opens its own") \
	X(user, 3, 0, "a process that becomes another user and forks") \
	X(chroot, 2, 0, "a process that changes its root and forks") \
	X(userns, 2, 0, "a process that enters a user namespace and forks") \
	X(seccomp, 1, 0, "a deadly seccomp filter that is installed later") \
	X(seccomp_threads, 2, 0, "a seccomp filter that says no, and a thread behind it") \
	X(all_signals, 1, 0, "handlers for every signal, and all of them blocked") \
	X(sigprof, 1, 0, "a host that owns SIGPROF") \
	X(deepbind, 1, 0, "a library loaded with RTLD_DEEPBIND") \
	X(pkey, 1, 0, "code pages under a protection key, unreadable") \
	X(exit_at_once, 1, 5, "_exit") \
	X(crash, 1, 139, "a crash") \
	X(abort, 1, 134, "an abort") \
	X(thousand_threads, 1, 0, "a thousand threads that end at once") \
	X(exit_while_starting, 1, 4, "an end while threads begin") \
	X(blocked_threads, 1, 0, "a thread that is made with all signals blocked") \
	X(detached, 1, 0, "a detached thread that outlives the first one")

int main(int argc, char **argv)
{
	self = "/proc/self/exe";
	the_case = argc > 1 ? argv[1] : "leaf";
	if (strcmp(the_case, "--list") == 0) {
#define LIST_(name, heard, status, sentence) printf("%s %d %d %s\n", #name, heard, status, sentence);
		CASES(LIST_)
		return 0;
	}
	make_code();
#define CALL_(name, heard, status, sentence) \
	if (strcmp(the_case, #name) == 0) \
		return case_##name();
	CASES(CALL_)
	return 2;
}
