// SPDX-License-Identifier: MIT
// groovy Fib.groovy SECONDS ROUNDS_FILE
int fib(int n) { n < 2 ? n : fib(n - 1) + fib(n - 2) }
int bif(int n) { n < 2 ? n : bif(n - 1) + bif(n - 2) }
long end = System.nanoTime() + (long) (1e9 * args[0].toDouble())
long rounds = 0
int result = 0
while (rounds == 0 || System.nanoTime() < end) {
	result = fib(18) + fib(18) + fib(18) + bif(18)
	rounds++
}
println "result $result"
new File(args[1]).text = "$rounds\n"
