// SPDX-License-Identifier: MIT
// Cases of a module of the page, as sentences, in a page that has nothing but a <pre> for what failed (tests/page/modules.sh).
const failures = []
let nr = 0, now = ''

const print = (line) => {
	document.querySelector('pre').textContent += `${line}\n`
}

export function that(what, holds, found) {
	if (!holds) failures.push(`${now}: ${what}${found === undefined ? '' : `: ${JSON.stringify(found)}`}`)
}

export function same(what, expected, actual) {
	const [a, b] = [expected, actual].map((value) => JSON.stringify(value))
	that(`${what}: expected ${a}, got ${b}`, a === b)
}

export function close(what, expected, actual) {
	that(`${what}: expected ${expected}, got ${actual}`, Math.abs(expected - actual) <= 1e-9 * Math.max(1, Math.abs(expected)))
}

// The same numbers in every run: a linear congruential generator (D. E. Knuth, The Art of Computer Programming 2, 3.3.4, line 26).
export function random_numbers(seed) {
	let state = BigInt(seed)
	return (below) => {
		state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
		return Number((state >> 33n) % BigInt(below))
	}
}

// cases: {sentence: function}.
export function run(module, cases) {
	for (const [sentence, check] of Object.entries(cases)) {
		now = `${module}: ${sentence}`
		nr++
		try {
			check()
		} catch (error) {
			failures.push(`${now}: ${error.stack ?? error}`)
		}
	}
	for (const failure of failures) print(failure)
	print(failures.length ? `${failures.length} checks failed` : `every case holds: ${nr} of ${module}`)
}
