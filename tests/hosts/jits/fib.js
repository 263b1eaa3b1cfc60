// SPDX-License-Identifier: MIT
// An ordinary script: fib.js SECONDS ROUNDS_FILE.  Hot: fib() for three times as long as bif(); a loop.
const node = typeof process !== "undefined" && process.argv !== undefined;
const args = node ? process.argv.slice(2) : typeof scriptArgs !== "undefined" ? scriptArgs :
	typeof ARGV !== "undefined" ? ARGV : arguments;
function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
function bif(n) {
	return n < 2 ? n : bif(n - 1) + bif(n - 2);
}
function total(a) {
	let sum = 0;
	for (let i = 0; i < a.length; i++)
		sum += a[i] % 7;
	return sum;
}
const numbers = [];
for (let i = 0; i < 20000; i++)
	numbers.push(i * 3);
const end = Date.now() + 1000 * Number(args[0]);
let rounds = 0, result = 0;
while (rounds === 0 || Date.now() < end) {
	// Many calls of one function in a row: Rhino and HotSpot inline the one that was called last, and the two would differ in speed.
	result = total(numbers);
	for (let i = 0; i < 15; i++)
		result += fib(20);
	for (let i = 0; i < 5; i++)
		result += bif(20);
	rounds++;
}
(node ? console.log : print)("result " + result);
if (typeof Deno !== "undefined")
	Deno.writeTextFileSync(args[1], rounds + "\n");
else if (node)
	require("fs").writeFileSync(args[1], rounds + "\n");
