// SPDX-License-Identifier: MIT
// This module finds changes between a page's two traces.  Lines of both are one if `tailor diff` pairs them (facts.pairs), or if they
// have equal names.  Verdicts are those of `tailor diff` on the samples that pass the filters, and of the run phase where there is one,
// unless a filter says otherwise.
import { groupKey } from "./activity.js";
import { countedAs, countsOf } from "./counts.js";
import { hasRunPhase } from "./phase.js";

const LEAST = 0.005; // Smaller lines are not tested (CHANGE_SHARE_MIN), so differences of their executions do not matter.

// Returns the second trace's id of a dimension: that of the level of the same name, or else the same id.  Returns null if it has none.
export function inSecond(sides, id) {
	const [first, second] = sides;
	if (!id.startsWith("level:")) return second.dimensions.get(id) ? id : null;
	const name = first.facts.levels[Number(id.slice(6))].name, at = second.facts.levels.findIndex(l => l.name === name);
	return at < 0 ? null : `level:${at}`;
}

function pairsOf(sides, id) {
	const level = id.startsWith("level:") ? sides[0].facts.levels[Number(id.slice(6))].name : null;
	return id === "function" || level !== null ? sides[1].facts.pairs?.find(p => p.level === level) : undefined;
}

// Returns lines {values: [value in the first trace, value in the second] (undefined: it has none), alike}.
function linesOf(sides, id, dimensions) {
	const lines = [], pairs = pairsOf(sides, id), taken = [new Set(), new Set()], named = new Map();
	const valid = v => (v >= 0 ? v : undefined);
	pairs?.first.forEach((v, i) => lines.push({ values: [valid(v), valid(pairs.second[i])], alike: Boolean(pairs.alike[i]) }));
	for (const { values } of lines) values.forEach((v, s) => taken[s].add(v));
	dimensions.forEach((dimension, s) => dimension.values.forEach(v => {
		if (taken[s].has(v)) return;
		const name = String(dimension.label(v)), line = named.get(name);
		if (line && line.values[s] === undefined) return void (line.values[s] = v);
		lines.push({ values: s ? [undefined, v] : [v, undefined], alike: false });
		if (!line) named.set(name, lines[lines.length - 1]);
	}));
	return lines;
}

// Returns one trace's sums of each line, and the numbers that the judge takes.
function sideOf(state, trace, id, dimension, lines) {
	const inRun = !state.filters.run && !state.filters.phase && hasRunPhase(state.data[trace].facts);
	const sums = state.sums(id, inRun ? "run" : null, [], trace), j = inRun ? 1 : 0;
	const keys = lines.map(l => (l.values[trace] === undefined ? undefined : dimension.at.get(l.values[trace])));
	const of = keys.map(k =>
		k === undefined ? { measure: 0, samples: 0 } : { measure: sums.measure(k, j), samples: sums.samples(k, j) }
	);
	const all = of.reduce((sum, x) => sum + x.measure, 0), samples = of.reduce((sum, x) => sum + x.samples, 0);
	for (const x of of) x.share = all > 0 ? x.measure / all : 0;
	return { trace, id, dimension, inRun, keys, of, all, samples };
}

// Returns the judge's view of one trace, which has the lines that it tests, and all others together as the last line.
function asked(state, side, tested, lines) {
	const chosen = new Set(tested), rest = side.keys.filter((k, i) => k !== undefined && !chosen.has(i));
	const lists = [...tested.map(i => (side.keys[i] === undefined ? [] : [side.keys[i]])), rest];
	const sums = state.sums(groupKey(side.dimension, lists, ["compare", side.id, side.trace]), "phase", [], side.trace);
	const phases = [];
	let squares = 0;
	for (let p = side.inRun ? 1 : 0; p < sums.nrB; p++) {
		let samples = 0;
		for (let line = 0; line < lists.length; line++) {
			samples += sums.samples(line, p);
			squares += sums.weight(line, p) > 0 ? sums.squares(line, p) : 0;
		}
		if (samples > 0) phases.push(p);
	}
	const samples = [...tested.map(i => side.of[i].samples), side.samples - tested.reduce((sum, i) => sum + side.of[i].samples, 0)];
	return {
		runs: Math.max(1, phases.length),
		squares,
		measure: (line, run) => (phases.length ? sums.measure(line, phases[run]) : 0),
		samples: line => samples[line],
		there: line => line === tested.length || lines[tested[line]].values[side.trace] !== undefined
	};
}

// Returns {sides, rows}.  A row is {name, detail, second (the other name of a pair that is alike), values, a, b, ratio, change, margin,
// growth, tested, certain}.
export function changes(page, id) {
	const { state, data, judge } = page, ids = [id, inSecond(data, id)], dimensions = data.map((d, s) => d.dimensions.get(ids[s]));
	const lines = linesOf(data, id, dimensions), sides = ids.map((own, s) => sideOf(state, s, own, dimensions[s], lines));
	const tested = lines.map((_, i) => i).filter(i => sides.some(s => s.of[i].share >= LEAST));
	const verdicts = judge(tested.length, sides.map(s => asked(state, s, tested, lines)));
	const verdict = new Map(tested.map((i, n) => [i, verdicts[n]]));
	const label = (s, v) => (v === undefined ? undefined : String(dimensions[s].label(v)));
	const detail = (s, v) => (v === undefined || !id.startsWith("level:") ? undefined : data[s].facts.components.detail[v]);
	// Lines that ran without being sampled have executions to compare, where both hosts count.
	const counts = data.map((_, s) => countsOf(page, s)), counted = counts.every(c => c?.nrKnown);
	const ran = line => counted && line.values.some((v, s) => v && counts[s].executions(countedAs(page, id, v, s)));
	const rows = lines.map((line, i) => {
		const [first, second] = line.values.map((v, s) => label(s, v)), [a, b] = sides.map(s => s.of[i]);
		return {
			name: first ?? second,
			detail: detail(0, line.values[0]) ?? detail(1, line.values[1]) ?? "",
			second: line.alike ? second : undefined,
			values: line.values,
			a,
			b,
			ratio: a.measure > 0 ? b.measure / a.measure : NaN,
			...(verdict.get(i) ?? { change: NaN, margin: NaN, growth: b.share - a.share, tested: false, certain: false })
		};
	}).filter(r => r.a.samples + r.b.samples > 0 || ran(r));
	rows.sort((p, q) => q.certain - p.certain || Math.abs(q.growth) - Math.abs(p.growth) || (p.name < q.name ? -1 : 1));
	return { sides, rows };
}
