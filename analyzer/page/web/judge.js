// SPDX-License-Identifier: MIT
// The judge of `tailor diff` as WebAssembly (analyzer/compare/wasm) says which lines of two traces differ significantly, and by how much.
import wasm from "judge.wasm";

// Lanczos' approximation with g = 7 and nine terms has 15 digits.  (W. H. Press et al., Numerical Recipes, 3rd edition, 6.1)
const LANCZOS = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012,
	9.9843695780195716e-6, 1.5056327351493116e-7];

function lgamma(x) {
	if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - lgamma(1 - x);
	const t = x + 6.5, sum = LANCZOS.reduce((all, c, i) => all + c / (x + i), 0.99999999999980993);
	return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

const { exp, log, log1p, pow } = Math, VERDICT = 4, TESTED = 1, SIGNIFICANT = 2;

export async function createJudge() {
	const { instance } = await WebAssembly.instantiate(wasm, { math: { exp, log, log1p, pow, lgamma } }), calls = instance.exports;
	const noMemory = () => new Error("The browser has not enough memory for this comparison.");

	/*
	 * Judges nr lines of two sides.  Line nr is everything that is in none of them.  A side is {runs, measure(line, run),
	 * samples(line), there(line), squares}, where squares is the sum of squared weights, or 0.
	 * Returns a list of {change, margin, growth, tested, certain} as in analyzer/compare/change.h.
	 */
	return (nr, sides) => {
		const mark = calls.memory_mark();
		try {
			const j = calls.judge_create(nr, sides[0].runs, sides[1].runs);
			if (!j) throw noMemory();
			sides.forEach((side, s) => {
				const runs = new Float64Array(calls.memory.buffer, calls.judge_runs(j, s), (nr + 1) * side.runs);
				for (let line = 0; line <= nr; line++) {
					for (let run = 0; run < side.runs; run++) runs[line * side.runs + run] = side.measure(line, run);
					calls.judge_entry(j, s, line, side.there(line), side.samples(line));
				}
			});
			const at = calls.judge_lines(j, sides[0].squares, sides[1].squares);
			if (!at) throw noMemory();
			const verdict = new Float64Array(calls.memory.buffer, at, VERDICT * nr);
			return Array.from({ length: nr }, (_, i) => {
				const [change, margin, growth, flags] = verdict.subarray(VERDICT * i, VERDICT * (i + 1));
				return { change, margin, growth, tested: Boolean(flags & TESTED), certain: Boolean(flags & SIGNIFICANT) };
			});
		} finally {
			calls.memory_release(mark);
		}
	};
}
