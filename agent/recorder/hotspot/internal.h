/* SPDX-License-Identifier: MIT */
/* The files of this folder share these declarations.  Most of them read another process's memory, and all check what was read there.
 * Context: thread. */
#ifndef TAILOR_HOTSPOT_INTERNAL_H
#define TAILOR_HOTSPOT_INTERNAL_H

#include "jitreg/hosts/eh_frame_put.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- vm_structs.c: a JVM's own tables of its types and variables */
struct hotspot_field {
	const char *type, *name;
	bool found;
	uint64_t value; /* address of a static variable, or offset of a field */
};
struct hotspot_size {
	const char *name;
	uint64_t bytes; /* 0: not found */
};

/* These functions find fields or sizes in the tables of pid, whose libjvm.so is mapped at library. Entries that the tables lack stay
 * unfound. They return 0, or -errno if there are no tables. */
int hotspot_find_fields(pid_t pid, uint64_t library, struct hotspot_field *w, int nr);
int hotspot_find_sizes(pid_t pid, uint64_t library, struct hotspot_size *w, int nr);
/* Is the text at this address of the process equal to name, and does it end there? */
bool hotspot_holds_text(pid_t pid, uint64_t address, const char *name);

/* ---- variables.c */
struct hotspot_variables {
	int32_t major;	      /* version of Java; 0: unknown, as before 12 */
	bool attach_disabled; /* -XX:+DisableAttachMechanism: SIGQUIT prints a thread dump on the host's output */
	bool has_jvmci;       /* -XX:+EnableJVMCI: a compiler in Java may name its code otherwise than by methods */
	bool has_narrow_pointers, has_narrow_classes; /* -XX:+UseCompressedOops, -XX:+UseCompressedClassPointers */
	bool has_compact_headers, has_coloured_pointers; /* -XX:+UseCompactObjectHeaders, -XX:+UseZGC */
	bool signals_reduced; /* -Xrs: SIGQUIT ends the process */
};

/* Reads the JVM's version and flags.  Returns 0, or -errno if they cannot be read.  For a JVM without a known version, returns 0 and all
 * zeros. */
int hotspot_read_variables(pid_t pid, uint64_t library, struct hotspot_variables *v);

/* ---- layout.c: offsets of fields by name, and addresses of static variables; 0 where there is none */
#define HOTSPOT_FIELDS(X) \
	X(heaps, "CodeCache", "_heaps") \
	X(array_nr, "GrowableArrayBase", "_len") \
	X(array_data, "GrowableArray<int>", "_data") \
	X(heap_memory, "CodeHeap", "_memory") \
	X(heap_segments, "CodeHeap", "_segmap") \
	X(heap_segment_bits, "CodeHeap", "_log2_segment_size") \
	X(space_low, "VirtualSpace", "_low") \
	X(space_high, "VirtualSpace", "_high") \
	X(block_used, "HeapBlock::Header", "_used") \
	X(blob_name, "CodeBlob", "_name") \
	X(blob_size, "CodeBlob", "_size") \
	X(blob_frame_complete, "CodeBlob", "_frame_complete_offset") \
	X(blob_frame_size, "CodeBlob", "_frame_size") \
	X(blob_data, "CodeBlob", "_data_offset") \
	X(compile_id, "nmethod", "_compile_id") \
	X(interpreter, "AbstractInterpreter", "_code") \
	X(stubs_start, "StubQueue", "_stub_buffer") \
	X(stubs_bytes, "StubQueue", "_buffer_limit") \
	X(method_const, "Method", "_constMethod") \
	X(const_pool, "ConstMethod", "_constants") \
	X(const_code_bytes, "ConstMethod", "_code_size") \
	X(const_name, "ConstMethod", "_name_index") \
	X(pool_holder, "ConstantPool", "_pool_holder") \
	X(pool_nr, "ConstantPool", "_length") \
	X(pool_file, "ConstantPool", "_source_file_name_index") \
	X(class_name, "Klass", "_name") \
	X(class_pool, "InstanceKlass", "_constants") \
	X(class_methods, "InstanceKlass", "_methods") \
	X(methods_nr, "Array<int>", "_length") \
	X(methods_data, "Array<Method*>", "_data") \
	X(symbol_bytes, "Symbol", "_length") \
	X(symbol_text, "Symbol", "_body")
/* A JVM has some of these fields, depending on its version. */
#define HOTSPOT_OTHER_FIELDS(X) \
	X(code_begin, "CodeBlob", "_code_begin") /* an address, in some versions */ \
	X(code_offset, "CodeBlob", "_code_offset") /* an offset from the blob, in others */ \
	X(compiled_method, "CompiledMethod", "_method") \
	X(nmethod_method, "nmethod", "_method") \
	X(pcs_offset, "nmethod", "_scopes_pcs_offset") /* offset from the blob, or from what _immutable_data points to */ \
	X(pcs_end, "nmethod", "_dependencies_offset") \
	X(scopes, "CompiledMethod", "_scopes_data_begin") \
	X(immutable, "nmethod", "_immutable_data") \
	X(immutable_bytes, "nmethod", "_immutable_data_size") \
	X(scopes_offset, "nmethod", "_scopes_data_offset") \
	X(metadata_offset, "nmethod", "_metadata_offset") /* an offset from the blob */ \
	X(mutable, "CodeBlob", "_mutable_data") \
	X(relocation_bytes, "CodeBlob", "_relocation_size") /* bytes of the mutable data before the metadata */ \
	X(const_flags, "ConstMethod", "_flags") \
	X(const_flags_field, "ConstMethod", "_flags._flags") \
	X(threads, "ThreadsSMRSupport", "_java_thread_list") \
	X(threads_nr, "ThreadsList", "_length") \
	X(threads_data, "ThreadsList", "_threads") \
	X(thread_os, "Thread", "_osthread") \
	X(java_thread_os, "JavaThread", "_osthread") \
	X(thread_object, "JavaThread", "_threadObj") \
	X(os_tid, "OSThread", "_thread_id") \
	X(class_fields, "InstanceKlass", "_fields") \
	X(class_stream, "InstanceKlass", "_fieldinfo_stream") \
	X(oop_base, "CompressedOops", "_base") \
	X(oop_base_before, "CompressedOops", "_narrow_oop._base") \
	X(oop_shift, "CompressedOops", "_shift") \
	X(oop_shift_before, "CompressedOops", "_narrow_oop._shift") \
	X(string_class, "vmClasses", "_klasses[static_cast<int>(vmClassID::String_klass_knum)]") \
	X(thread_class, "vmClasses", "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]")
#define HOTSPOT_SIZES(X) \
	X(block_bytes, "HeapBlock") \
	X(const_bytes, "ConstMethod") \
	X(pool_bytes, "ConstantPool") \
	X(method_bytes, "Method")

struct hotspot_layout {
	pid_t pid;
	int32_t major; /* version of Java; 0: unknown */
#define HOTSPOT_MEMBER_(member, ...) uint64_t member;
	HOTSPOT_FIELDS(HOTSPOT_MEMBER_)
	HOTSPOT_OTHER_FIELDS(HOTSPOT_MEMBER_)
	HOTSPOT_SIZES(HOTSPOT_MEMBER_)
#undef HOTSPOT_MEMBER_
	bool has_code_begin;
	uint64_t blob_method; /* offset of the pointer to a compiled method's Method */
	uint64_t blob_bytes;  /* number of a blob's first bytes that contain all of these fields */
};

/* Reads the layout.  Returns 0, or -errno if the JVM's tables cannot be read (yet), or describe another layout. */
int hotspot_layout_read(struct hotspot_layout *l, pid_t pid, uint64_t library);

/* ---- methods.c */
#define HOTSPOT_NAME_BYTES 512
#define HOTSPOT_FILE_BYTES 256
#define HOTSPOT_LINES_MAX 4096

struct hotspot_line {
	uint64_t address; /* address of the bytecode */
	uint32_t number;
};
struct hotspot_method {
	char name[HOTSPOT_NAME_BYTES]; /* package.Class.method */
	char file[HOTSPOT_FILE_BYTES]; /* package/File.java; "": unknown */
	uint64_t code, code_bytes;     /* range of its bytecodes; code is 0 if it has none, or if it was read without lines */
	uint32_t nr_lines;
	struct hotspot_line line[HOTSPOT_LINES_MAX];
};

/* Reads the Method at address.  with_lines: with bytecodes, file and lines, too.  Returns false if no Method can be read there, and then
 * *out is not to be used. */
bool hotspot_read_method(const struct hotspot_layout *l, uint64_t address, bool with_lines, struct hotspot_method *out);

/*
 * Is the Method at address among the methods of its class?  hotspot_read_method() may succeed for a word that leads to no Method by chance,
 * and this check finds that out.  Methods that the JVM makes by itself, for method handles, are among no class's methods, but none of these
 * is interpreted.
 */
bool hotspot_is_method(const struct hotspot_layout *l, uint64_t address);

/* Reads the name with this index in a constant pool, without a terminating 0.  *nr: its bytes, at most room.  Returns false if there is
 * none. */
bool hotspot_read_pool_symbol(const struct hotspot_layout *l, uint64_t pool, uint16_t index, char *text, size_t room, size_t *nr);

/* This struct is a stream of numbers in HotSpot's packing (UNSIGNED5). */
struct hotspot_stream {
	const unsigned char *at, *end;
	bool excludes_zero; /* since Java 20 no byte of a number is 0 */
};
/* Takes the next number.  Returns false if there is no whole one. */
bool hotspot_take_number(struct hotspot_stream *s, uint32_t *out);

/* ---- java_heap.c */
#define HOTSPOT_THREAD_NAME_BYTES 256

struct hotspot_heap { /* how to read objects of Java's heap */
	uint64_t base;
	unsigned shift;
	bool is_narrow;
	uint32_t name, value, coder; /* offsets: name of a thread, value and coder of a string */
	uint32_t array_nr; /* offset of an array's length */
};
/* These functions find how to read the heap, and return false if that is not known for this JVM. hotspot_heap_find_fields() finds name,
 * value and coder only. */
bool hotspot_heap_find_fields(struct hotspot_heap *h, const struct hotspot_layout *l);
bool hotspot_heap_find(struct hotspot_heap *h, const struct hotspot_layout *l, uint64_t library);
#define HOTSPOT_THREADS_MAX 8192u
/* Calls each(context, l, tid, thread) for Java's threads and the compilers', HOTSPOT_THREADS_MAX at most.  thread: address of the
 * JavaThread; tid: the number in the JVM's own PID namespace. */
void hotspot_each_java_thread(const struct hotspot_layout *l,
			      void (*each)(void *context, const struct hotspot_layout *l, uint32_t tid, uint64_t thread), void *context);
/* Calls each(context, tid, name) for threads whose name can be read.  tid: the number in the JVM's own PID namespace. */
void hotspot_each_thread(const struct hotspot_heap *h, const struct hotspot_layout *l,
			 void (*each)(void *context, uint32_t tid, const char *name), void *context);

/* ---- thread_names.c: the names of a JVM's threads as records. */
struct hotspot_thread_names;
struct trace_writer;

/* Returns NULL if memory runs out.  The functions below take NULL. */
struct hotspot_thread_names *hotspot_thread_names_create(void);
void hotspot_thread_names_destroy(struct hotspot_thread_names *t);
/* Notes that the kernel reported a new name of a thread, so names are to be read again. */
void hotspot_thread_names_note_comm(struct hotspot_thread_names *t, uint32_t tid, uint64_t time_ns);
/* Writes the names that an earlier call read from the heap, because the kernel's records up to that time have come by now. Then reads
 * names again, if the kernel has reported a new one, and at least 20 ms have passed since the last time. If it is unknown how to read the
 * heap, this and further calls do nothing. began_ns: time that a name gets for which the kernel has no record. */
void hotspot_thread_names_settle(struct hotspot_thread_names *t, const struct hotspot_layout *l, uint64_t library, struct trace_writer *w,
				 uint64_t began_ns, uint64_t now_ns);

/* ---- compilations.c: what a JVM's compilers compile, as marks on their threads */
struct hotspot_compilations;
#define HOTSPOT_PAUSE_NS 20000000u /* after a longer time without a sample of the compilation, the next sample begins another one */
struct hotspot_compilation {
	uint32_t tid;
	char compiler; /* '1' or '2', for C1 or C2 */
	uint64_t method, from_ns, to_ns;
};
/* Adds a sample of a compiler's thread that compiles method.  Returns true if the sample belongs to k, whose times include it now, or to a
 * compilation before k.  Returns false if another compilation begins with it. */
bool hotspot_compilation_has(struct hotspot_compilation *k, uint64_t method, uint64_t time_ns);
struct sample_seen;

/* Returns NULL if memory runs out.  The functions below take NULL. */
struct hotspot_compilations *hotspot_compilations_create(void);
void hotspot_compilations_destroy(struct hotspot_compilations *c);
/* Notes that a thread has a new name.  It may be another thread with the same number, so it is looked at again, unless it is known as a
 * compiler's. */
void hotspot_compilations_forget_thread(struct hotspot_compilations *c, uint32_t tid);
/* Notes which method is compiled in a sample of a compiler's thread, and which threads are new.  Called for each sample, so it has to be
 * fast. */
void hotspot_compilations_note_sample(struct hotspot_compilations *c, const struct hotspot_layout *l, const struct sample_seen *s);
/* Writes compilations that another one of their thread has followed, or that have had no sample for 100 ms, or all of them if last.  Finds
 * out which new threads are compilers', at most every 100 ms. */
void hotspot_compilations_settle(struct hotspot_compilations *c, const struct hotspot_layout *l, struct trace_writer *w, uint64_t now_ns,
				 bool last);

/* ---- scopes.c: which methods each place in the code of a compiled method belongs to */
#define HOTSPOT_DEPTH_MAX 32

struct hotspot_scope {
	uint64_t method;
	int32_t bci; /* bytecode index; negative: at the method's entry, or unknown */
};

struct hotspot_blob;
/* Calls each(context, address, scopes, nr) for the described places of a method's code in their order, with the innermost method first, and
 * with HOTSPOT_DEPTH_MAX methods at most.  A description holds for the code up to its place. */
void hotspot_each_place(const struct hotspot_layout *l, const struct hotspot_blob *b,
			void (*each)(void *context, uint64_t address, const struct hotspot_scope *scope, uint32_t nr), void *context);

/* ---- lines.c: writes lines and inlined methods of compiled code as records of the trace */
struct hotspot_lines;

/* Returns NULL if memory runs out. */
struct hotspot_lines *hotspot_lines_create(void);
void hotspot_lines_destroy(struct hotspot_lines *t);
/* Writes lines and inlined methods of a compiled method.  Called before its LOAD is written, to which the records belong. */
void hotspot_lines_write(struct hotspot_lines *t, const struct hotspot_layout *l, const struct hotspot_blob *b, struct trace_writer *w,
			 uint32_t pid, uint64_t time_ns);

/* ---- blob_frames.c: unwind information of a code blob, as .eh_frame */
#define HOTSPOT_FRAMES_BYTES 4096

struct hotspot_frames {
	unsigned char bytes[HOTSPOT_FRAMES_BYTES];
	struct eh_frame_writer writer; /* writer of `bytes` */
};

/* Writes the frames of code that saves rbp, has made a frame of this many words (its return address included) at the offset complete, and
 * leaves it as HotSpot's compilers do.  code: its bytes; NULL: unknown, so where it leaves its frame is unknown too. */
void hotspot_frames_of_code(struct hotspot_frames *f, uint64_t start, uint64_t bytes, uint32_t words, uint32_t complete,
			    const unsigned char *code);
/* Writes the frames of code without a frame of its own.  The return address is the stack's first word. */
void hotspot_frames_of_leaf(struct hotspot_frames *f, uint64_t start, uint64_t bytes);
/* Writes the frames of the interpreter. */
void hotspot_frames_of_interpreter(struct hotspot_frames *f, uint64_t start, uint64_t bytes);

/* ---- code_cache.c */
struct hotspot_blob {
	uint64_t address;	 /* address of the blob itself */
	uint64_t start, bytes;	 /* range of its code */
	uint64_t name, method;	 /* addresses of its name and its Method; method counts only if the name is that of a compiled method */
	int32_t frame_words;	 /* size of its frame in words; 0: it has no frame, or frames of several kinds */
	int32_t frame_complete; /* offset in its code from where on the frame is complete; negative: unknown */
	uint32_t compile_id;
};

/* Calls each(context, blob) for all blobs that are in use now. If each() returns false, the other blobs of that heap are skipped. Returns
 * 0, or -errno if the code cache, or a part of it, cannot be read. */
int hotspot_each_blob(const struct hotspot_layout *l, bool (*each)(void *context, const struct hotspot_blob *b), void *context);

#endif
