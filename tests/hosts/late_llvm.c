/* SPDX-License-Identifier: MIT */
/* Loads libLLVM late, by dlopen, and runs a hot loop that it compiles: nothing of LLVM is there at the start.  late_llvm [MILLIONS of turns
 * [child]]: a forked child does it. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTIONS(X) \
	X(void *, LLVMContextCreate, (void)) \
	X(void *, LLVMCreateMemoryBufferWithMemoryRangeCopy, (const char *, size_t, const char *)) \
	X(int, LLVMParseIRInContext, (void *, void *, void **, char **)) \
	X(void, LLVMLinkInMCJIT, (void)) \
	X(void, LLVMInitializeX86TargetInfo, (void)) \
	X(void, LLVMInitializeX86Target, (void)) \
	X(void, LLVMInitializeX86TargetMC, (void)) \
	X(void, LLVMInitializeX86AsmPrinter, (void)) \
	X(int, LLVMCreateExecutionEngineForModule, (void **, void *, char **)) \
	X(uint64_t, LLVMGetFunctionAddress, (void *, const char *))
#define DECLARE(type, name, arguments) static type (*name) arguments;
FUNCTIONS(DECLARE)

static const char ir[] =
	"define i64 @hot_loop(i64 %n) uwtable {\n"
	"entry:\n  br label %head\n"
	"head:\n  %i = phi i64 [ 0, %entry ], [ %next, %head ]\n  %x = phi i64 [ 1, %entry ], [ %z, %head ]\n"
	"  %y = mul i64 %x, 6364136223846793005\n  %z = add i64 %y, %i\n  %next = add i64 %i, 1\n"
	"  %more = icmp ult i64 %next, %n\n  br i1 %more, label %head, label %done\n"
	"done:\n  ret i64 %z\n}\n";

/* The newest that there is; its file name has had two forms. */
static void *load_llvm(void)
{
	void *llvm = NULL;

	for (int major = 21; major >= 14 && !llvm; major--) {
		char name[32];

		snprintf(name, sizeof(name), major >= 18 ? "libLLVM.so.%d.1" : "libLLVM-%d.so.1", major);
		llvm = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	}
	return llvm;
}

static int compile_and_run(uint64_t turns)
{
	void *llvm = load_llvm(), *module, *engine, *context;
	char *message = NULL;

	if (!llvm) {
		fprintf(stderr, "%s\n", dlerror());
		return 77;
	}
#define FIND(type, name, arguments) \
	if (!(*(void **)&name = dlsym(llvm, #name))) \
		return 1;
	FUNCTIONS(FIND)
	LLVMLinkInMCJIT();
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
	context = LLVMContextCreate();
	if (LLVMParseIRInContext(context, LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, sizeof(ir) - 1, "hot.ll"), &module, &message) ||
	    LLVMCreateExecutionEngineForModule(&engine, module, &message)) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	printf("%llx\n", (unsigned long long)((uint64_t (*)(uint64_t))LLVMGetFunctionAddress(engine, "hot_loop"))(turns));
	return 8;
}

int main(int argc, char **argv)
{
	uint64_t turns = 1000000 * (argc > 1 ? strtoul(argv[1], NULL, 10) : 100);
	int status = 0;

	if (argc < 3)
		return compile_and_run(turns);
	if (fork() == 0)
		exit(compile_and_run(turns));
	wait(&status);
	return WEXITSTATUS(status);
}
