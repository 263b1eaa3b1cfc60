// SPDX-License-Identifier: MIT
// node wasm.js SECONDS ROUNDS_FILE: fib and total as WebAssembly, with a name section.
const text = (s) => [s.length, ...s].map((c) => (typeof c === 'string' ? c.charCodeAt(0) : c));
const section = (id, bytes) => [id, bytes.length, ...bytes];
const body = (bytes) => [bytes.length, ...bytes];
const fib = [
	0, 0x20, 0, 0x41, 2, 0x48, 4, 0x7f, 0x20, 0, 5, 0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x20, 0, 0x41, 2, 0x6b, 0x10, 0, 0x6a, 0xb, 0xb
]
const total = [
	1, 1, 0x7f, 3, 0x40, 0x20, 1, 0x20, 0, 0x41, 7, 0x6f, 0x6a, 0x21, 1, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0xd, 0, 0xb, 0x20, 1, 0xb
]
const bytes = new Uint8Array([
	0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
	...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]),
	...section(3, [2, 0, 0]),
	...section(7, [2, ...text('fib'), 0, 0, ...text('total'), 0, 1]),
	...section(10, [2, ...body(fib), ...body(total)]),
	...section(0, [...text('name'), 1, ...body([2, 0, ...text('fib'), 1, ...text('total')])]),
]);
const program = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
const end = Date.now() + 1000 * Number(process.argv[2]);
let rounds = 0, result = 0;
while (Date.now() < end) {
	result = program.fib(20) + program.total(20000);
	rounds++;
}
console.log('result ' + result);
require('fs').writeFileSync(process.argv[3], rounds + '\n');
