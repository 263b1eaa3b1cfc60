// SPDX-License-Identifier: MIT
// fib.js as an ES module, which Node reads without opening it from JavaScript: fib.mjs SECONDS ROUNDS_FILE.
import { writeFileSync } from "node:fs";
const { fib, total } = await Promise.resolve({
	fib(n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	},
	total(a) {
		let sum = 0;
		for (let i = 0; i < a.length; i++)
			sum += a[i] % 7;
		return sum;
	},
});
const numbers = Array.from({ length: 20000 }, (_, i) => i * 3);
const end = Date.now() + 1000 * Number(process.argv[2]);
let rounds = 0, result = 0;
while (rounds === 0 || Date.now() < end) {
	result = fib(20) + total(numbers);
	rounds++;
}
console.log("result " + result);
writeFileSync(process.argv[3], rounds + "\n");
