// SPDX-License-Identifier: MIT
// The texts of two traces stand side by side and are coloured alike: by share, by executions, or by the formula of the table of
// differences.  Pointing at a line marks the same line of the other text.
import { h, shown } from "./dom.js";
import { listing } from "./listing.js";
import { percent } from "./format.js";
import { countsOf, marked } from "./counts.js";
import { baseName, lineOf } from "./texts.js";
import { lineId } from "./lineheat.js";

const AHEAD = 400; // lines to search for the same line in the other text

// Addresses differ from run to run.
const plain = text => text.trim().replace(/0x[0-9a-f]+|\d{6,}/g, "#");

// Finds for each line of one text the same line of the other, in order.  Lines without one get -1.
function sameLines(first, second) {
	const of = new Int32Array(first.length).fill(-1), at = new Map();
	second.map(plain).forEach((text, j) => (at.has(text) ? at.get(text).push(j) : at.set(text, [j])));
	let last = -1;
	first.map(plain).forEach((text, i) => {
		const j = text ? (at.get(text) ?? []).find(x => x > last && x <= last + AHEAD) : undefined;
		if (j !== undefined) of[i] = last = j;
	});
	return of;
}

// formula() returns the formula of the table of differences, {id (its dimension), value(row)}, or null.  rows() returns the table's rows.
export function bothCode(page, { formula, rows }) {
	const { state, data } = page;
	const lists = [0, 1].map(s => listing(`Text of the ${s ? "second" : "first"}`));
	const notes = lists.map(() => h("p", { class: "note" }));
	const text = h("select", { "aria-label": "Text of both", onchange: () => state.option("both", text.value) });
	const heat = h("select", { "aria-label": "Colour of lines", onchange: () => state.option("bothheat", heat.value) });
	const el = h("section", { class: "card" },
		h("header", {}, h("h2", {}, "Code of both"), text, h("label", { class: "note" }, "heat by ", heat)),
		h("div", { class: "beside" },
			lists.map((list, s) => h("div", {}, notes[s], list.el))
		)
	);
	let now = [], before = [];

	function cost(trace, source) {
		const sums = state.sums(lineId(source), null, [], trace);
		const { at } = data[trace].dimensions.get(lineId(source));
		const all = sums.totalMeasure || 1;
		const share = source.of.map(v => (v && at.get(v) !== undefined ? sums.measure(at.get(v)) / all : 0));
		return { source, share, all: share.reduce((a, b) => a + b, 0) };
	}
	const kind = (trace, source) => `${source.level >= 0 ? data[trace].facts.levels[source.level].name : "line"}`;

	// The text of the first trace is the chosen one, or the most expensive one. That of the second trace has the same name and kind, or
	// is the most expensive one of the kind.
	function choose() {
		const costs = data.map(({ facts }, trace) => facts.sources.map(source => cost(trace, source)));
		const order = costs[0].map((c, i) => [c.all, i]).sort((a, b) => b[0] - a[0]).map(([, i]) => i);
		const wanted = Number(state.option("both") ?? -1);
		const first = costs[0][costs[0][wanted] ? wanted : order[0]];
		const alike = costs[1].filter(c => kind(1, c.source) === kind(0, first.source)).sort((a, b) => b.all - a.all);
		const second = alike.find(c => baseName(c.source.name) === baseName(first.source.name)) ?? alike[0] ?? null;
		text.replaceChildren(
			...order.map(i =>
				h("option", { value: String(i) },
					shown(`${baseName(costs[0][i].source.name) || "text"} (${percent(costs[0][i].all, 0)})`, 60)
				)
			)
		);
		text.value = String(costs[0].indexOf(first));
		return [first, second];
	}
	// Returns the numbers that a trace's lines are coloured by.
	function valuesOf(by, trace, { source, share }, counts) {
		if (by === "executions") return source.of.map(v => counts[trace]?.executions(v)?.count ?? 0);
		const f = by === "formula" ? formula() : null;
		if (!f) return share;
		const of = new Map(rows().map(r => [r.values[trace], f.value(r)]));
		return source.of.map(v => (v && Number.isFinite(of.get(v)) ? Math.max(0, of.get(v)) : 0));
	}
	function draw() {
		const shownNow = choose(), counts = [0, 1].map(trace => countsOf(page, trace)), f = formula();
		const choices = [
			"share",
			...(counts.some(Boolean) && shownNow.some(c => c?.source.level >= 0) ? ["executions"] : []),
			...(f?.id === lineId(shownNow[0].source) ? ["formula"] : [])
		];
		const by = choices.includes(state.option("bothheat")) ? state.option("bothheat") : choices[0];
		heat.replaceChildren(...choices.map(c => h("option", { value: c }, c === "formula" ? "formula of the table" : c)));
		heat.value = by;
		const values = shownNow.map((c, trace) => (c ? valuesOf(by, trace, c, counts) : []));
		const top = Math.max(1e-12, ...values.flat());
		const texts = shownNow.map(c => c?.source.lines ?? []), same = [sameLines(...texts), sameLines(texts[1], texts[0])];
		now = shownNow.map((c, trace) => ({ name: baseName(c?.source.name), by, parts: values[trace].map(v => v / top) }));
		shownNow.forEach((c, trace) => {
			notes[trace].textContent = c
				? `${trace ? "Second" : "First"}: ${shown(baseName(c.source.name) || "text", 60)}, ` +
					`${percent(c.all)} of its samples that pass.`
				: "The second has no text of this kind.";
			const runs = Boolean(c && c.source.level >= 0 && c.source.of.some(v => counts[trace]?.executions(v)));
			const list = lists[trace];
			const other = lists[1 - trace];
			const hottest = values[trace].reduce((most, v, i) => (v > values[trace][most] ? i : most), 0);
			const mark = i => other.mark(new Set(i >= 0 && same[trace][i] >= 0 ? [same[trace][i]] : []));
			list.set(
				{
					nr: texts[trace].length,
					runs,
					row: i => ({
						runs: runs ? marked(counts[trace].executions(c.source.of[i])) : "",
						number: lineOf(c.source, i) ? String(lineOf(c.source, i)) : "⋮",
						text: c.source.lines[i].replaceAll("\t", "    "),
						share: c.share[i],
						part: values[trace][i] / top
					}),
					hover: mark,
					choose: i => same[trace][i] >= 0 && (other.see(same[trace][i]), mark(i))
				},
				before[trace] === c?.source,
				hottest
			);
		});
		before = shownNow.map(c => c?.source);
	}
	return { el, draw, drawn: () => now };
}
