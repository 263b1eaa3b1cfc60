// SPDX-License-Identifier: MIT
// AsmJit: asmjit SECONDS ROUNDS_FILE.  Two functions with a loop, one called with three times the count.
#include <asmjit/x86.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

typedef long (*function)(long);

static function compile(asmjit::JitRuntime &runtime)
{
	asmjit::CodeHolder code;
	code.init(runtime.environment());
	asmjit::x86::Assembler a(&code);
	asmjit::Label loop = a.newLabel();
	a.push(asmjit::x86::rbp);
	a.mov(asmjit::x86::rbp, asmjit::x86::rsp);
	a.xor_(asmjit::x86::eax, asmjit::x86::eax);
	a.bind(loop);
	a.imul(asmjit::x86::rax, asmjit::x86::rax, 31);
	a.add(asmjit::x86::rax, asmjit::x86::rdi);
	a.sub(asmjit::x86::rdi, 1);
	a.jnz(loop);
	a.pop(asmjit::x86::rbp);
	a.ret();
	function f = nullptr;
	return runtime.add(&f, &code) ? nullptr : f;
}

int main(int argc, char **argv)
{
	asmjit::JitRuntime runtime;
	function fib = compile(runtime), bif = compile(runtime);
	long rounds = 0, result = 0;

	if (argc < 3 || !fib || !bif)
		return 1;
	std::clock_t end = std::clock() + (std::clock_t)(std::atof(argv[1]) * CLOCKS_PER_SEC);
	do {
		result = fib(300000) + bif(100000);
		rounds++;
	} while (std::clock() < end);
	std::printf("result %ld\n", result);
	std::FILE *f = std::fopen(argv[2], "w");
	std::fprintf(f, "%ld\n", rounds);
	return std::fclose(f);
}
