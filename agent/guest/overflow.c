/* SPDX-License-Identifier: MIT */
/*
 * Takes samples in a signal handler and appends them to the log.  This is for threads whose samples the kernel cannot write (without perf
 * events, a timer on the thread's processor time sends the signal), and for tags in a thread-local word, which only code inside the thread
 * can read (a perf counter sends the signal at each overflow).
 *
 * The signal is SIGSTKFLT, which Linux on x86 never sends and programs do not use.  A real-time signal would be queued once per overflow,
 * and a full queue turns into SIGIO, which kills.  Of a standard signal at most one is pending.  It comes only from events counted in user
 * space, or for timers on the way back to user space.  So a wait that it interrupts has just begun, and begins again.
 *
 * Context: the handler may interrupt everything, also the agent.
 */
#include "agent/guest/guest.h"

#include "agent/guest/overflow.h"
#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define TIMERS_MAX 4096
#define TIMERS_LOOKED 8 /* maximum number of timers checked for each new one, because their threads may have ended */
#ifndef F_SETSIG
#define F_SETSIG 10
#endif

static struct {
	bool on;
	uint64_t interval; /* weight of a sample; for timers in ns */
	uint32_t stack_bytes;
	bool has_tag_word;
	uint64_t tag_offset; /* relative to the thread pointer */
	struct sigaction hosts; /* the action that the host believes is installed */
} overflow;

/* Timers outlive their threads, and thread exit is not reported. So each new timer checks up to TIMERS_LOOKED others, and deletes those of
 * ended threads. */
static struct {
	int tid; /* 0: free; -1: being set or deleted */
	int id;	 /* the kernel's number of the timer */
} timers[TIMERS_MAX];
static unsigned next_timer;

bool overflow_is_on(void)
{
	return __atomic_load_n(&overflow.on, __ATOMIC_ACQUIRE);
}

struct sigaction *overflow_hosts_action(void)
{
	return &overflow.hosts;
}

/* ------------------------------------------------------------------------------------------------------ the handler */

static uint64_t read_tag_word(void)
{
	const char *thread;
	uint64_t word;

	if (!__atomic_load_n(&overflow.has_tag_word, __ATOMIC_ACQUIRE))
		return 0;
	__asm__("movq %%fs:0, %0" : "=r"(thread)); /* in the x86-64 ABI the first word at the thread pointer is its own address */
	if (!sys_readable_range(thread + overflow.tag_offset, sizeof(word)))
		return 0;
	memcpy(&word, thread + overflow.tag_offset, sizeof(word));
	return word;
}

/* Returns the number of stack bytes that can be copied, at most overflow.stack_bytes.  The stack may be a coroutine's, and end anywhere. */
static uint32_t count_readable_stack_bytes(uintptr_t sp)
{
	uint32_t bytes = 0, wanted = overflow.stack_bytes;

	while (bytes < wanted && sys_readable((const void *)(sp + bytes))) {
		uint32_t page = (uint32_t)(SYS_PAGE_BYTES - (sp + bytes) % SYS_PAGE_BYTES);

		bytes += page < wanted - bytes ? page : wanted - bytes;
	}
	return bytes & ~7u;
}

static void log_signal_sample(const siginfo_t *info, const ucontext_t *c)
{
	static const unsigned char order[LOG_SAMPLE_REGISTERS] = {
		REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP, REG_EFL,
		REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};
	struct log_sample s = { .id = LOG_SAMPLE, .weight = overflow.interval };
	uintptr_t sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
	struct timespec now;
	int cpu = sched_getcpu();

	clock_gettime(CLOCK_MONOTONIC, &now);
	s.timestamp = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	s.cpu = cpu < 0 ? 0 : (uint32_t)cpu;
	if (info->si_code == SI_TIMER && info->si_overrun > 0)
		s.weight *= 1 + (uint64_t)info->si_overrun;
	for (int i = 0; i < LOG_SAMPLE_REGISTERS; i++)
		s.registers[i] = (uint64_t)c->uc_mcontext.gregs[order[i]];
	s.tag_word = read_tag_word();
	s.stack_bytes = sp % 8 == 0 ? count_readable_stack_bytes(sp) : 0;
	log_append_sample(&s, (const void *)sp);
}

/* Handles a signal that the agent did not cause, as if the agent were not there. */
static void pass_signal_to_host(int signo, siginfo_t *info, void *context)
{
	struct sigaction host = overflow.hosts;

	if (host.sa_flags & SA_SIGINFO) {
		host.sa_sigaction(signo, info, context);
	} else if (host.sa_handler == SIG_DFL) {
		overflow_install_action(&host);
		sys_call(SYS_tgkill, (long)sys_getpid(), (long)sys_gettid(), signo, 0, 0, 0); /* it is delivered when the handler returns */
	} else if (host.sa_handler != SIG_IGN) {
		host.sa_handler(signo);
	}
}

/* ------------------------------------------------------------------------------------------------- waits go on */

#define CALLER_WORDS 24 /* stack words that are searched for the number pushed for a system call; 13 lie in front of it in glibc 2.41 */
#define CALL_BYTES 5	/* size of call rel32 */
#define PUSH_BYTES 19	/* bytes in front of a call that are searched for the push */

/* Does the code in front of a call push this number?  returns_to: the return address of the call. */
static bool code_pushes_number(uintptr_t returns_to, uint32_t number)
{
	const unsigned char *code = (const unsigned char *)returns_to - CALL_BYTES - PUSH_BYTES;

	if (returns_to < SYS_PAGE_BYTES || !sys_readable_range(code, CALL_BYTES + PUSH_BYTES) || code[PUSH_BYTES] != 0xe8)
		return false;
	for (int i = 0; i + 5 <= PUSH_BYTES + 1; i++)
		if ((code[i] == 0x68 && memcmp(code + i + 1, &number, sizeof(number)) == 0 && i + 5 <= PUSH_BYTES) ||
		    (number < 0x80 && code[i] == 0x6a && code[i + 1] == number))
			return true;
	return false;
}

/* Is this system call a wait that returns -EINTR after any handler, whatever the handler's flags are? */
static bool is_wait_call(uint64_t number)
{
	switch (number) {
	case SYS_poll:
	case SYS_select:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_epoll_wait:
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case SYS_pselect6:
		return true;
	}
	return false;
}

/*
 * Returns the number of the wait that was interrupted, and sets *begins to the address where it starts again. Returns -1 if it is no known
 * wait. Most code puts the number into eax, right in front of the instruction. Since glibc 2.41
 * (sysdeps/unix/sysv/linux/x86_64/syscall_cancel.S) functions that are cancellation points push the number, and a function that they share
 * makes the call. The number is then above their return address.
 */
static long find_interrupted_wait(const greg_t *r, greg_t *begins)
{
	const unsigned char *code = (const unsigned char *)(uintptr_t)r[REG_RIP] - 7;
	const uint64_t *stack = (const uint64_t *)(uintptr_t)r[REG_RSP];
	uint32_t number;

	if (!sys_readable_range(code, 7) || code[5] != 0x0f || code[6] != 0x05) /* syscall */
		return -1;
	*begins = r[REG_RIP] - 2;
	if (code[0] == 0xb8) { /* mov $number, %eax */
		memcpy(&number, code + 1, sizeof(number));
		return is_wait_call(number) ? (long)number : -1;
	}
	if ((uintptr_t)stack % 8 || !sys_readable_range(stack, CALLER_WORDS * sizeof(*stack)))
		return -1;
	for (int i = 0; i + 1 < CALLER_WORDS; i++)
		if (is_wait_call(stack[i + 1]) && code_pushes_number((uintptr_t)stack[i], (uint32_t)stack[i + 1]))
			return (long)stack[i + 1];
	return -1;
}

/*
 * A counter's interrupt may come late, in the system call that follows the counted code, and no flag of the handler restarts these waits.
 * So they are restarted here.  A signal of the host that came together with the sampling signal then counts as one that came just before
 * the wait.  Waits with a signal mask, which tell the two apart, are left alone.  The arguments are still in their registers.
 */
static void restart_interrupted_wait(ucontext_t *c)
{
	greg_t *r = c->uc_mcontext.gregs, begins;
	const uint64_t *mask = NULL;
	long number = r[REG_RAX] == -EINTR ? find_interrupted_wait(r, &begins) : -1;

	if (number < 0)
		return;
	if (number == SYS_ppoll)
		mask = (const uint64_t *)(uintptr_t)r[REG_R10];
	else if (number == SYS_epoll_pwait)
		mask = (const uint64_t *)(uintptr_t)r[REG_R8];
	else if (number == SYS_pselect6) { /* the register points to the mask's address and its size */
		mask = (const uint64_t *)(uintptr_t)r[REG_R9];
		if (mask && sys_readable_range(mask, sizeof(*mask)) && !*mask)
			mask = NULL;
	}
	if (mask)
		return;
	r[REG_RAX] = number;
	r[REG_RIP] = begins;
}

static void handle_overflow_signal(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	bool ours;

	if (guest_is_confined()) /* the signal came before set_thread_confined() had blocked it */
		return;
	ours = info->si_code == SI_TIMER ? info->si_value.sival_ptr == &overflow :
		    /* a counter's signal has a positive si_code, or SI_USER and no sender if the signal queue was full */
		    info->si_code > 0 || (info->si_code == SI_USER && info->si_pid == 0);

	if (!ours)
		pass_signal_to_host(signo, info, context);
	else if (guest_is_on() && guest_owns_log())
		log_signal_sample(info, context);
	if (ours)
		restart_interrupted_wait(context);
	errno = saved;
}

/* ------------------------------------------------------------------------------------------------------------ start */

int overflow_start(const struct wire_answer *a)
{
	struct sigaction ours = { .sa_sigaction = handle_overflow_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	overflow.interval = a->interval_ns;
	overflow.stack_bytes = a->stack_bytes;
	if (overflow_is_on())
		return 0; /* the handler was installed before, by a parent or for an earlier recorder */
	if (overflow_read_action(&overflow.hosts) || (overflow.hosts.sa_flags & SA_SIGINFO) || overflow.hosts.sa_handler != SIG_DFL)
		return -EBUSY;
	if (overflow_install_action(&ours))
		return -EINVAL;
	__atomic_store_n(&overflow.on, true, __ATOMIC_RELEASE);
	return 0;
}

void overflow_note_tag(const struct iovec *parts, int nr_parts)
{
	struct jitreg_tag_record tag;

	if (nr_parts < 1 || !parts[0].iov_base || parts[0].iov_len < sizeof(tag))
		return;
	memcpy(&tag, parts[0].iov_base, sizeof(tag));
	if (tag.prefix.id != JITREG_TAG || tag.where != JITREG_TAG_MEMORY)
		return;
	overflow.tag_offset = tag.address;
	__atomic_store_n(&overflow.has_tag_word, true, __ATOMIC_RELEASE);
}

/* ---------------------------------------------------------------------------------------------------------- threads */

/* Each thread calls this, because a new one may start with every signal blocked. */
static void unblock_overflow_signal(void)
{
	uint64_t mask = 1ull << (OVERFLOW_SIGNAL - 1);

	sys_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof(mask), 0, 0);
}

int overflow_send_signal_to_me(int fd)
{
	struct {
		int type, pid;
	} owner = { 0 /* F_OWNER_TID */, (int)sys_gettid() };
	int ret = sys_fcntl(fd, 15 /* F_SETOWN_EX */, (long)&owner);

	if (ret >= 0)
		ret = sys_fcntl(fd, F_SETSIG, OVERFLOW_SIGNAL);
	if (ret >= 0)
		ret = sys_fcntl(fd, F_SETFL, O_ASYNC);
	if (ret >= 0)
		unblock_overflow_signal();
	return ret < 0 ? ret : 0;
}

static void delete_thread_timer(unsigned i, int tid)
{
	int id = timers[i].id;

	if (__atomic_compare_exchange_n(&timers[i].tid, &tid, -1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		sys_call(SYS_timer_delete, id, 0, 0, 0, 0, 0);
		__atomic_store_n(&timers[i].tid, 0, __ATOMIC_RELEASE);
	}
}

/* Takes a free slot, and deletes timers of ended threads in the first TIMERS_LOOKED slots that it checks. The slot's tid is -1 until the
 * caller sets it. Returns -1 if no slot is free. */
static int take_timer_slot(int tid)
{
	unsigned from = __atomic_fetch_add(&next_timer, 1, __ATOMIC_RELAXED);
	int pid = (int)sys_getpid();

	for (unsigned n = 0; n < TIMERS_MAX; n++) {
		unsigned i = (from + n) % TIMERS_MAX;
		int owner = __atomic_load_n(&timers[i].tid, __ATOMIC_ACQUIRE);

		/* a forked child has none of its parent's timers, and an old tid here may equal that of a new thread */
		if (owner > 0 && (owner == tid || (n < TIMERS_LOOKED && sys_call(SYS_tgkill, pid, owner, 0, 0, 0, 0) == -ESRCH)))
			delete_thread_timer(i, owner);
		owner = 0;
		if (__atomic_compare_exchange_n(&timers[i].tid, &owner, -1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return (int)i;
	}
	return -1;
}

int overflow_start_thread_timer(void)
{
	int tid = (int)sys_gettid(), slot = take_timer_slot(tid), id = 0, ret;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = OVERFLOW_SIGNAL };
	struct itimerspec every = { 0 };

	if (slot < 0)
		return -ENOSPC;
	event.sigev_value.sival_ptr = &overflow;
	event._sigev_un._tid = tid;
	every.it_interval.tv_sec = every.it_value.tv_sec = (time_t)(overflow.interval / 1000000000);
	every.it_interval.tv_nsec = every.it_value.tv_nsec = (long)(overflow.interval % 1000000000);
	ret = (int)sys_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event, (long)&id, 0, 0, 0);
	if (ret == 0) {
		unblock_overflow_signal();
		ret = (int)sys_call(SYS_timer_settime, id, 0, (long)&every, 0, 0, 0);
		if (ret)
			sys_call(SYS_timer_delete, id, 0, 0, 0, 0, 0);
	}
	timers[slot].id = id;
	__atomic_store_n(&timers[slot].tid, ret ? 0 : tid, __ATOMIC_RELEASE);
	return ret;
}
