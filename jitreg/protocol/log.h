/* SPDX-License-Identifier: MIT */
/*
 * Between guest and recorder: the layout of the registration log, and the handshake.
 *
 * The log is a memfd that the recorder makes (one per process that says hello), seals against shrinking and growing, and
 * maps; the guest maps it too.  Page 0 is the head, the rest a ring.  Positions are 64-bit byte counts that never wrap;
 * a position's place in the ring is position % ring_bytes, and frames run across the end of the ring.  The first position
 * is ring_bytes, so that a ring of zeros holds no frame of any position.
 *
 * Append (guest, any thread): reserve by compare-and-swap on head.reserved, which refuses when the ring is full (a
 * fetch-and-add would jam for good), copy the record behind the frame, then publish: a compare-and-swap puts the frame's position in
 * place of what stood there.  Old contents never look published: a position occurs once in the life of a log.
 *
 * Drain (recorder): a frame whose position fits is complete.  One that stays unpublished for 100 ms is read past: what follows it is handed
 * over, and it is still waited for, because nothing is freed from it on (head.consumed), so nothing else is written there.  After 10 s, or
 * when its process has ended, it is given up: its words become LOG_PASSED, the space is freed, and its bytes are counted as a gap.  A
 * writer that was only slow then fails to publish, and its caller gets -ENOBUFS: a record whose call returned 0 is in the trace.
 * An empty log begins anew: the recorder moves both positions to the next multiple of ring_bytes, by compare-and-swap on head.reserved.
 * A recording that ends beside a process that goes on closes its log: head.reserved becomes LOG_CLOSED, so nothing is appended any
 * more, and what is still unpublished is given up.
 * Where an unpublished record ends is not known: the next one begins at the next 8-byte boundary whose frame fits (position = its own,
 * size within what is reserved).  Every byte here is hostile: copy the frame and the record first, then check the copy.
 */
#ifndef TAILOR_LOG_H
#define TAILOR_LOG_H

#include <stdint.h>

#define LOG_MAGIC 0x474f4c54u /* "TLOG" */
#define LOG_VERSION 5u	      /* of everything in this file: guest and recorder of different versions refuse each other */
#define LOG_HEAD_BYTES 4096u
#define LOG_RING_BYTES_DEFAULT (64u << 20)
#define LOG_RING_BYTES_DORMANT (14u << 20) /* 5 ms of the fastest guest; a process that is not recorded stays small */
#define LOG_RING_BYTES_MIN (64u << 10)
#define LOG_FRAME_ALIGN 8u
#define LOG_PASSED(position) ((position) | 1u) /* in the place of a frame's position: the recorder has given it up */
#define LOG_CLOSED (1ull << 62) /* in the place of head.reserved: there is no room for anything */

/* Hosts of which the thread that an agent was loaded in (tailor_injected()) holds no lock, so that it may call them. */
enum { INJECTED_MAY_CALL_V8 = 1, INJECTED_MAY_CALL_PYTHON = 2 };

struct log_head {
	uint32_t magic;
	uint32_t version;
	uint64_t ring_bytes; /* multiple of 4096; both sides remember it and never read it again */
	uint32_t pid;	     /* whose log it is */
	uint32_t reserved0;
	/* written by the guest (atomics) */
	uint64_t reserved __attribute__((aligned(64)));
	uint64_t dropped_records; /* full or malformed: counted, never waited for longer than 1 ms */
	uint64_t dropped_bytes;
	uint64_t guest_full; /* facts that the guest's own fixed tables had no room for */
	uint64_t dropped_samples; /* of LOG_SAMPLE, for which no writer waits */
	uint32_t switched_off; /* the guest gave up; errno-like reason */
	uint64_t refused_records; /* malformed: their calls got -EINVAL */
	/* written by the recorder */
	uint64_t consumed __attribute__((aligned(64)));
	uint32_t recorder_gone; /* 1: the log is drained no more; the guest switches itself off */
	uint64_t heartbeats; /* grows while the recorder works, every 10 ms or sooner: who waits for it knows that it will come */
};
_Static_assert(sizeof(struct log_head) <= LOG_HEAD_BYTES, "the head is one page");

/* Before each record.  record_bytes is its size without padding; the next frame starts at the next multiple of 8. */
struct log_frame {
	uint64_t position; /* its own; stored last, with release order */
	uint32_t record_bytes;
	uint32_t tid;
};
_Static_assert(sizeof(struct log_frame) == 16, "shared layout");

/*
 * A sample that a signal handler took, where the kernel cannot write one for us (or only a handler can read the tag): a record
 * of the log, never of a trace.  Behind it: stack_bytes of the stack from sp on.
 */
#define LOG_SAMPLE 127u
#define LOG_SAMPLE_REGISTERS 18

struct log_sample {
	uint32_t id, total_size; /* struct jitreg_prefix */
	uint64_t timestamp;
	uint64_t weight;   /* in the event's unit */
	uint64_t tag_word; /* the thread-local tag; 0 where there is none */
	uint32_t cpu;
	uint32_t stack_bytes;
	uint64_t registers[LOG_SAMPLE_REGISTERS]; /* ax bx cx dx si di bp sp ip flags r8 to r15: perf's order */
};

/* How the threads of a process are sampled. */
enum wire_sampler {
	WIRE_SAMPLER_NONE = 0,	 /* not by themselves: inherited counters do it */
	WIRE_SAMPLER_RING = 1,	 /* each thread opens counters, and the kernel writes samples into rings */
	WIRE_SAMPLER_SIGNAL = 2, /* each thread opens a counter that sends it a signal at each overflow */
	WIRE_SAMPLER_TIMER = 3,	 /* each thread has a timer on its processor time: where perf events are forbidden */
};

/*
 * The handshake: SOCK_SEQPACKET on an abstract unix socket named by TAILOR_SOCKET ("tailor-<pid>-<random hex>").  One
 * message, one answer, one connection: the guest keeps no descriptor, so a host that closes all of its descriptors
 * takes nothing from us.  The recorder checks SO_PEERCRED: same user as itself, or root, or a process of its tree.
 */
enum wire_request {
	WIRE_HELLO = 1,	  /* a process starts (after exec, after fork): answer carries the log's descriptor */
	WIRE_COUNTER = 2, /* carries descriptors of one thread's events; the answer means "they count" */
	WIRE_STOP = 3,	  /* the guest gives up (reason in .error): drain what there is */
	WIRE_COUNTER_MEMORY = 4, /* memory for execution counts, .log_bytes of it: answer carries its descriptor, .reserved its number */
};

#define WIRE_MAGIC 0x57524c54u /* "TLRW" */
#define WIRE_EVENTS_MAX 8
#define WIRE_ATTR_BYTES 136 /* sizeof(struct perf_event_attr) as of 6.x; shorter ones are padded with zeros */

struct wire_message {
	uint32_t magic;
	uint32_t version; /* LOG_VERSION */
	uint32_t request;
	uint32_t pid;
	uint32_t tid;
	int32_t error;	   /* WIRE_COUNTER: why there is no descriptor (errno), else 0 */
	uint32_t nr_fds;   /* of the descriptors that travel along (SCM_RIGHTS), in the order of the events */
	uint32_t flags;	   /* WIRE_FLAG_* */
	uint64_t log_bytes; /* WIRE_HELLO: the most that this process can map; 0: no opinion.  WIRE_COUNTER_MEMORY: wanted */
	char guest_version[32];
};
#define WIRE_FLAG_CHILD 1u /* hello after fork, not after exec */

struct wire_answer {
	uint32_t magic;
	uint32_t version;
	int32_t status; /* 0, or -errno: -EPROTO version mismatch, -EPERM not ours, -ENOMEM ... */
	uint32_t sampler; /* enum wire_sampler; RING, SIGNAL: open these events on each thread, disabled, and hand them over */
	uint64_t ring_bytes;	 /* WIRE_HELLO: of the log whose descriptor comes along; WIRE_COUNTER_MEMORY: of the memory */
	uint64_t interval_ns;	 /* SIGNAL: a sample's weight, in the event's unit; TIMER: of processor time between two samples */
	uint32_t stack_bytes;	 /* SIGNAL, TIMER: to take with each sample */
	uint32_t reserved; /* WIRE_COUNTER_MEMORY: which of the process's memories it is */
	uint32_t nr_events;
	uint32_t attr_bytes;
	unsigned char attr[WIRE_EVENTS_MAX][WIRE_ATTR_BYTES]; /* struct perf_event_attr */
};

#endif
