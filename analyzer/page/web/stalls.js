// SPDX-License-Identifier: MIT
// The summary of stalls by cause, key figures, and sentences about how they were found, as data.
import { skid } from "./causes.js";
import { countsOf } from "./counts.js";
import { count, percent, short } from "./format.js";

export const LEAST = 0.0005; // least share of the cycles that has a row

export const range = (low, high) =>
	Math.round(100 * low) === Math.round(100 * high)
		? `${Math.round(100 * low)} %`
		: `${Math.round(100 * low)}–${Math.round(100 * high)} %`;
export const causeName = (page, c) => page.facts.causes.culprits[c].name;
// Returns the two likeliest causes of stalls.  x: a block's or a function's stalls.
export const causeNames = (page, x) =>
	x.causes.slice(0, 2).map(c => `${causeName(page, c)} ${range(x.least[c] / x.cycles, x.most[c] / x.cycles)}`).join(", ");

// The rows of DCPI's summary are execution, then causes, the likeliest first, and at last what is unexplained or not analyzed. (J. Anderson
// et al., SOSP 1997, figure 4)
export function stallSummary(page, causes, { judged, sum }) {
	const { all, kernel } = judged, list = [], known = sum.cycles, user = all - kernel;
	const add = (key, name, low, high, by) => list.push({ key, name, low: low / all, high: high / all, by });
	if (!(all > 0)) return list;
	if (known > 0) add("execution", "execution", sum.floor, sum.floor, "instructions");
	page.facts.causes.culprits.map((c, i) => i).filter(i => sum.most[i] >= LEAST * all)
		.sort((a, b) => sum.least[b] + sum.most[b] - sum.least[a] - sum.most[a] || a - b)
		.forEach(i => {
			const { key, name } = page.facts.causes.culprits[i];
			add(key, name, sum.least[i], sum.most[i], causes.evidence(judged, i));
		});
	if (sum.unexplained > LEAST * all) add("unexplained", "unexplained", sum.unexplained, sum.unexplained, "");
	if (user - known > LEAST * all) add("not_analyzed", "not analyzed", user - known, user - known, "");
	return list;
}

// Returns the key figures as [name, text].
export function stallFigures(causes, { judged, sum }) {
	const insns = judged.of.reduce((all, x, i) => all + (x.known ? x.executions * insnsOf(causes, i) : 0), 0);
	return !judged.stalls || !(sum.known > 0)
		? [
				["samples", count(judged.total.samples(judged.event))],
				["blocks with samples", count(judged.of.filter(b => b.samples > 0).length)]
			]
		: [
				["best case", `${short(sum.best / insns)} CPI`],
				["actual", `${short(sum.cycles / insns)} CPI`],
				["stalled", percent((sum.stall - judged.kernel) / sum.cycles)],
				["analyzed", percent(sum.cycles / (judged.all || 1))],
				["cycles", short(judged.all)]
			];
}

function insnsOf(causes, i) {
	const f = causes.functions.findLast(x => x.first <= i);
	return f.insns[i - f.first];
}

// Returns what a reader has to know of the figures, in sentences.
export function stallSentences(page, { judged, sum }) {
	const { about, simulated } = page.facts.causes, list = [], late = skid(page.facts, judged.event);
	if (late)
		list.push(
			`${page.facts.events[judged.event].name} is not precise: its samples are some instructions late, ` +
				"so blocks have sums and instructions have none; a block after a slow one may have some of its samples."
		);
	if (judged.stalls && about && sum.known > 0)
		list.push(
			simulated
				? `Best case: ${about}, first-level hits.`
				: `Best case: 6 instructions a cycle, because ${about}; where a block runs one a cycle, no cause is named.`
		);
	if (!judged.stalls)
		list.push(
			"Stalls need cycles and instructions: tailor run -e " +
				"cycles,instructions,cache-misses,branch-misses,dTLB-load-misses, on a machine that has them."
		);
	if (!judged.of.some(b => b.executions !== null))
		list.push("No executions: the host does not count them, and the trace has no event of retired instructions.");
	if (judged.stalls && judged.all - judged.kernel - sum.cycles > LEAST * judged.all)
		list.push(
			"Not analyzed: code without bytes in the trace, blocks without samples of instructions, " +
				"functions beyond the 64 hottest."
		);
	if (countsOf(page)?.assumed.size) list.push("Executions here are without what is assumed in Calls.");
	return list;
}

// Returns the lines of a block's box, which are its offset, its heat, and the causes.
export function blockLines(page, judged, x, w) {
	const share = percent(x.measure / (judged.measured || 1));
	const cpi = x.known
		? `  CPI ${short(+(x.cycles / x.executions / x.insns).toPrecision(3))} ` +
			`(best ${short(+(x.best / x.executions / x.insns).toPrecision(2))})`
		: "";
	return [
		`+${x.offset.toString(16)}  ${x.insns} insn${x.insns > 1 ? "s" : ""}` +
			(x.executions !== null && w > 140 ? `  ${short(Math.round(x.executions))}×` : ""),
		`${share}${cpi}`,
		x.known ? causeNames(page, x) : ""
	].filter(Boolean);
}
