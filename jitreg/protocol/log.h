/* SPDX-License-Identifier: MIT */
/*
 * This file defines the protocol between the agent (guest) in a process and the recorder, which is the layout of the registration log, and
 * the handshake.
 *
 * The log is a memfd that the recorder makes for each process that sends WIRE_HELLO, seals against shrinking and growing, and maps.  The
 * guest maps it too.  Page 0 is the head, the rest a ring.  Positions are 64-bit counts of bytes that never start again.  A position is at
 * byte position % ring_bytes of the ring, so a frame may begin at the end of the ring and continue at its beginning. The first position is
 * ring_bytes, so that no word of a ring of zeros looks like a frame's position.
 *
 * Append (guest, any thread): reserve space by compare-and-swap on head.reserved, if the ring has room (a fetch-and-add would reserve
 * space that is not free). Copy the record behind the frame, and publish it: a compare-and-swap replaces the first word of the frame,
 * whatever it was, by the frame's position. Old contents never look published, because a position occurs only once in the life of a log.
 *
 * Drain (recorder): a frame whose first word is its own position is complete.  If a frame stays unpublished for 100 ms, the recorder reads
 * the records behind it and still waits for it.  No space from this frame on is freed (head.consumed), so nothing else is written there.
 * After 10 s, or when its process has ended, the recorder gives the frame up: its words become LOG_PASSED, the space is freed, and its
 * bytes are counted as a gap.  A writer that was only slow then fails to publish, and its caller gets -ENOBUFS.  So a record whose call
 * returned 0 was read by the recorder.  When the log is empty and no frame was given up, the recorder may move both positions to the next
 * multiple of ring_bytes, by compare-and-swap on head.reserved, so that the guest uses the same few pages again.  If a recording ends and
 * its process goes on, the recorder closes the log: head.reserved becomes LOG_CLOSED, so nothing more is appended, and unpublished records
 * are given up.  The end of an unpublished record is unknown: the next one begins at the next 8-byte boundary with a fitting frame
 * (position = its own, size within the reserved space).  Every byte of the log is untrusted: copy the frame and the record first, then
 * check the copy.
 */
#ifndef TAILOR_LOG_H
#define TAILOR_LOG_H

#include <stdint.h>

#define LOG_MAGIC 0x474f4c54u /* "TLOG" */
#define LOG_VERSION 5u	      /* version of this file: guest and recorder of different versions refuse each other */
#define LOG_HEAD_BYTES 4096u
#define LOG_RING_BYTES_DEFAULT (64u << 20)
#define LOG_RING_BYTES_DORMANT (14u << 20) /* for processes that are not recorded yet; the fastest guest fills it in 5 ms */
#define LOG_RING_BYTES_MIN (64u << 10)
#define LOG_FRAME_ALIGN 8u
#define LOG_PASSED(position) ((position) | 1u) /* replaces the position of a frame that the recorder gives up */
#define LOG_CLOSED (1ull << 62) /* value of head.reserved that leaves no room for any record */

/* These bits stand for the hosts whose functions tailor_injected() may call in the thread in which the agent was loaded, since that
 * thread holds none of their locks. */
enum { INJECTED_MAY_CALL_V8 = 1, INJECTED_MAY_CALL_PYTHON = 2 };

struct log_head {
	uint32_t magic;
	uint32_t version;
	uint64_t ring_bytes; /* multiple of 4096; each side reads it once and uses its copy, since the other could change it */
	uint32_t pid;	     /* process that owns the log */
	uint32_t reserved0;
	/* The guest writes the following members (atomics). */
	uint64_t reserved __attribute__((aligned(64)));
	/* records dropped because the log was full, the record was too large, the recorder gave it up, or there was no log */
	uint64_t dropped_records;
	uint64_t dropped_bytes;
	uint64_t guest_full; /* entries for which the guest's tables, whose size is fixed, had no room */
	uint64_t dropped_samples; /* dropped LOG_SAMPLE records, whose writers (signal handlers) do not wait for room */
	uint32_t switched_off; /* errno value for which the guest gave up, or 0 */
	uint64_t refused_records; /* malformed records, whose calls returned -EINVAL */
	/* The recorder writes the following members. */
	uint64_t consumed __attribute__((aligned(64)));
	uint32_t recorder_gone; /* 1: the log is not drained any more, and the guest switches itself off */
	/* grows with each drain and each message that the recorder handles, so that threads which wait for its answer see that it runs */
	uint64_t heartbeats;
};
_Static_assert(sizeof(struct log_head) <= LOG_HEAD_BYTES, "the head is one page");

/* Each record has a frame in front of it. record_bytes is the size of the record without padding. The next frame starts at the next
 * multiple of LOG_FRAME_ALIGN behind it. */
struct log_frame {
	uint64_t position; /* the frame's own position, stored last, with release order */
	uint32_t record_bytes;
	uint32_t tid;
};
_Static_assert(sizeof(struct log_frame) == 16, "shared layout");

/*
 * This struct is a sample that a signal handler in the thread took, because the kernel cannot write samples, or because only a handler can
 * read the tag of the thread.  The recorder makes SAMPLES of these records, so they are in logs, but never in traces.  stack_bytes bytes of
 * the stack from sp on follow the struct.
 */
#define LOG_SAMPLE 127u
#define LOG_SAMPLE_REGISTERS 18

struct log_sample {
	uint32_t id, total_size; /* struct jitreg_prefix */
	uint64_t timestamp;
	uint64_t weight;   /* in the event's unit */
	uint64_t tag_word; /* the thread-local tag, or 0 */
	uint32_t cpu;
	uint32_t stack_bytes;
	uint64_t registers[LOG_SAMPLE_REGISTERS]; /* ax bx cx dx si di bp sp ip flags r8 to r15: perf's order */
};

/* The threads of a process are sampled in one of these ways. */
enum wire_sampler {
	WIRE_SAMPLER_NONE = 0,	 /* threads do nothing, because they inherit the recorder's counters */
	WIRE_SAMPLER_RING = 1,	 /* each thread opens counters, and the kernel writes samples into rings */
	WIRE_SAMPLER_SIGNAL = 2, /* each thread opens a counter that sends it a signal at each overflow */
	WIRE_SAMPLER_TIMER = 3,	 /* each thread has a timer on its CPU time that sends it a signal, for systems that forbid perf events */
};

/*
 * The handshake uses SOCK_SEQPACKET on an abstract unix socket named by TAILOR_SOCKET ("tailor-<pid>-<random hex>").  A connection carries
 * one message and one answer.  The guest keeps no descriptor, so a host may close all of its descriptors.  The recorder accepts
 * (SO_PEERCRED) only processes of its own user or of root, and the processes that it was told to record, with their descendants.
 */
enum wire_request {
	WIRE_HELLO = 1,	  /* a process has started (exec or fork); the descriptor of its log comes with the answer */
	WIRE_COUNTER = 2, /* sends the descriptors of one thread's events; when the answer comes, they count */
	WIRE_STOP = 3,	  /* the guest gives up for the reason in .error, and asks the recorder to read the rest of the log */
	/* requests .log_bytes bytes of memory for execution counts, whose descriptor comes with the answer, with its number in .reserved */
	WIRE_COUNTER_MEMORY = 4,
};

#define WIRE_MAGIC 0x57524c54u /* "TLRW" */
#define WIRE_EVENTS_MAX 8
#define WIRE_ATTR_BYTES 136 /* sizeof(struct perf_event_attr) of Linux 6; shorter ones are padded with zeros */

struct wire_message {
	uint32_t magic;
	uint32_t version; /* LOG_VERSION */
	uint32_t request;
	uint32_t pid;
	uint32_t tid;
	int32_t error;	   /* WIRE_COUNTER: errno of perf_event_open() if there is no descriptor; WIRE_STOP: why; otherwise 0 */
	uint32_t nr_fds;   /* number of sent descriptors (SCM_RIGHTS), in the order of the events */
	uint32_t flags;	   /* WIRE_FLAG_* */
	/* WIRE_HELLO: largest log that this process asks for, a part of what its limit of address space leaves, or 0 (no limit);
	 * WIRE_COUNTER_MEMORY: requested size */
	uint64_t log_bytes;
	char guest_version[32];
};
#define WIRE_FLAG_CHILD 1u /* the WIRE_HELLO is that of a child after fork, and not of a program after exec */

struct wire_answer {
	uint32_t magic;
	uint32_t version;
	int32_t status; /* 0, or -errno, such as -EPROTO (version mismatch), -EPERM (refused process), -ENOMEM */
	/* enum wire_sampler; with RING and SIGNAL, each thread opens the events below, disabled, and sends their descriptors */
	uint32_t sampler;
	uint64_t ring_bytes;	 /* size of the log (WIRE_HELLO) or of the memory (WIRE_COUNTER_MEMORY) sent along */
	uint64_t interval_ns;	 /* SIGNAL: weight of a sample, in the event's unit; TIMER: CPU time between samples */
	uint32_t stack_bytes;	 /* SIGNAL, TIMER: stack bytes to copy with each sample */
	uint32_t reserved; /* WIRE_COUNTER_MEMORY: number of this memory, by which the process names places in it */
	uint32_t nr_events;
	uint32_t attr_bytes;
	unsigned char attr[WIRE_EVENTS_MAX][WIRE_ATTR_BYTES]; /* struct perf_event_attr */
};

#endif
