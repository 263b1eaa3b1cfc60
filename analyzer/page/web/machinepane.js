// SPDX-License-Identifier: MIT
// A pane with the machine code of a function, with heat and executions.
import { h, shown } from "./dom.js";
import { percent } from "./format.js";
import { listing } from "./listing.js";
import { baseName, fileOfStep, isIn, isOf } from "./texts.js";
import { heatEvent, heatOf, sumsBy } from "./lineheat.js";
import { skid } from "./causes.js";
import { countsOf, marked } from "./counts.js";

// point: marks a line in all panes.
export function machinePane(page, point) {
	const { facts, state, dimensions } = page, list = listing("Machine code");
	const select = h("select", { "aria-label": "Function", onchange: () => state.option("machine", select.value) });
	const note = h("p", { class: "note" });
	const el = h("section", { class: "card" }, h("header", {}, h("h2", {}, "Machine code"), select), note, list.el);
	const places = facts.places.ip.map((ip, place) => ({ ip, place, code: facts.places.code[place] })).filter(p => p.ip);
	const steps = new Map(); // [[place, row]] of each listing
	let shownListing, before;

	// Returns places and their rows in a listing.
	function rowsOf(l) {
		if (!steps.has(l)) {
			steps.set(l, places.filter(p => isIn(l, p, facts.code)).map(p => {
				let low = 0, high = l.offset.length;
				while (low + 1 < high) {
					const middle = (low + high) >> 1;
					if (l.offset[middle] <= p.ip - l.start) low = middle;
					else high = middle;
				}
				return [p.place, low];
			}));
		}
		return steps.get(l);
	}
	function draw() {
		const sums = sumsBy(page, "place");
		const costs = facts.listings.map(l => rowsOf(l).reduce((a, [place]) => a + sums.of(place)[0], 0));
		const order = costs.map((c, i) => [c, i]).sort((a, b) => b[0] - a[0]).map(([, i]) => i), total = sums.total || 1;
		const index = facts.listings[Number(state.option("machine") ?? -1)] ? Number(state.option("machine")) : order[0];
		const l = shownListing = facts.listings[index];
		const cost = new Float64Array(l.offset.length);
		const weight = new Float64Array(l.offset.length);
		for (const [place, row] of rowsOf(l)) {
			cost[row] += sums.of(place)[0];
			weight[row] += sums.of(place)[2];
		}
		select.replaceChildren(
			...order
				.slice(0, 200)
				.map(i =>
					h("option", { value: String(i) },
						shown(`${facts.listings[i].name} (${percent(costs[i] / total, 1)})`, 70)
					)
				)
		);
		select.value = String(index);
		const late = skid(facts, heatEvent(page)), blocks = page.data[0].causes?.find(l) ?? -1;
		note.textContent =
			`${percent(costs[index] / total)} of the samples that pass are in this function.` +
			(l.read_late ? " Its bytes were read from memory after the first sample." : "") +
			(late ? ` ${late} ` : "");
		if (late && blocks >= 0) note.append(h("button", { class: "small", onclick: () => {
			Object.assign(state.options, { function: String(blocks), block: "-1" });
			state.show("causes");
		} }, "Sums of its blocks"));
		const counts = countsOf(page);
		const ran = i =>
			l.counted?.[i] !== undefined ? { count: l.counted[i], state: "counted" } : counts?.executions(l.runs?.[i]);
		const runs = Boolean(counts && l.runs && l.offset.some((_, i) => ran(i)));
		const heat = l.offset.map((_, i) => heatOf(page, ran(i)?.count, cost[i], weight[i])), top = Math.max(1e-9, ...heat);
		list.set(
			{
				nr: l.offset.length,
				runs,
				row: i => ({
					runs: runs ? marked(ran(i)) : "",
					number: "+" + l.offset[i].toString(16),
					arrows: l.arrows[i],
					text: l.text[i],
					share: cost[i] / total,
					part: heat[i] / top,
					title: l.line[i] ? `${baseName(fileOfStep(l, i))}:${l.line[i]}` : null
				}),
				hover: i => point(i >= 0 && l.line[i] ? { file: fileOfStep(l, i), line: l.line[i] } : {}),
				choose: (i, e) => {
					if (l.to[i] >= 0) return list.see(l.to[i]);
					const at = rowsOf(l)
						.filter(([, row]) => row === i)
						.map(([place]) => place);
					if (at.length) state.set("place", { values: at });
				}
			},
			before === l,
			Math.max(0, heat.indexOf(top))
		);
		before = l;
	}
	return { el, draw, list, kind: "machine", mark(at) {
		const set = new Set();
		const of = file => at.source ? isOf(at.source, file) : file === at.file;
		if (at.line && shownListing)
			shownListing.line.forEach((n, i) => n === at.line && of(fileOfStep(shownListing, i)) && set.add(i));
		list.mark(set);
	} };
}
