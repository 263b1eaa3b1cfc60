// SPDX-License-Identifier: MIT
// The text of a procedure with its lines marked, or, where the trace has none, its machine code.
import { h } from "./dom.js";
import { listing } from "./listing.js";
import { functionName, marked } from "./counts.js";

export const idOf = c => `${c.caller} ${c.block} ${c.site}`; // the id of a call site

// The components that are lines of texts, and their functions' blocks.  This is made once.
function whereLines(page, counts) {
	const { facts } = page, of = new Map(), blocks = new Map();
	facts.sources.forEach((source, s) => source.level >= 0 && source.of.forEach((c, line) => c && of.set(c, { source, s, line })));
	counts.functions.forEach((f, i) => {
		for (let b = 0; b < facts.flow.functions.blocks[i]; b++)
			for (const c of counts.blocks(i, b)) if (of.has(c)) blocks.set(c, { function: i, block: b });
	});
	return { of, blocks };
}

function linesOf(page, counts, where, i, block) {
	const blocks = block === undefined ? Array.from({ length: page.facts.flow.functions.blocks[i] }, (_, b) => b) : [block];
	return blocks.flatMap(b => counts.blocks(i, b)).map(c => where.of.get(c)).filter(Boolean);
}

// Returns the number of the listing with a function's machine code, or -1.
function machineOf(page, counts, i) {
	const { facts } = page, { named } = page.data[0].flow, { component } = counts.functions[i];
	return component
		? facts.listings.findIndex(l => facts.functions.name.some((n, f) => n === l.name && named.get(f) === component))
		: -1;
}

// Makes the card.  draw(counts, procedure, site) draws it anew.  walk(procedure, site): goes to another procedure.
export function procedureCode(page, walk) {
	const list = listing("Code of the procedure"), note = h("p", { class: "note" });
	let where = null, shownCode = null;

	function toCode() {
		const { state } = page;
		if (shownCode.text !== undefined) state.options.text = String(shownCode.text);
		else state.options.machine = String(shownCode.machine);
		state.show("code");
	}
	const el = h("section", { class: "card" },
		h("header", {}, h("h2", {}, "Text"), h("button", { class: "small", onclick: toCode }, "Open in Code")),
		note,
		list.el
	);
	list.el.classList.add("short");

	function draw(counts, i, site) {
		const { facts, state, dimensions } = page, at = /^(-?\d+) (\d+) (\d+)$/.exec(site);
		where ??= whereLines(page, counts);
		const lines = i < 0 ? [] : linesOf(page, counts, where, i);
		const machine = i < 0 || lines.length ? -1 : machineOf(page, counts, i);
		el.hidden = !lines.length && machine < 0;
		if (el.hidden) return;
		const marks = at && Number(at[1]) === i ? linesOf(page, counts, where, i, Number(at[2])) : [], before = shownCode;
		if (lines.length) {
			const { source, s } = lines[0];
			const sums = state.sums(`level:${source.level}`);
			const dimension = dimensions.get(`level:${source.level}`);
			const measure = c => (!c || dimension.at.get(c) === undefined ? 0 : sums.measure(dimension.at.get(c)));
			const top = Math.max(1e-9, ...source.of.map(measure));
			shownCode = { text: s, title: "Text" };
			note.textContent =
				`The lines of ${functionName(page, counts, i, "it")}` +
				`${marks.length ? ", and of the call site," : ""} are marked. ` +
				"Choosing a line leads to the procedure that it is of.";
			list.set(
				{
					nr: source.lines.length,
					runs: true,
					row: n => ({
						number: String(n + 1),
						text: source.lines[n].replaceAll("\t", "    "),
						share: measure(source.of[n]) / (sums.totalMeasure || 1),
						part: measure(source.of[n]) / top,
						runs: marked(counts.executions(source.of[n]))
					}),
					choose: n => {
						const found = where.blocks.get(source.of[n]);
						if (!found) return;
						const call = counts.calls.find(c => c.caller === found.function && c.block === found.block);
						walk(found.function, call ? idOf(call) : "");
					}
				},
				before?.text === s
			);
			list.mark(new Set((marks.length ? marks : lines).filter(l => l.source === source).map(l => l.line)));
			list.see((marks[0] ?? lines[0]).line);
		} else {
			const l = facts.listings[machine];
			shownCode = { machine, title: "Machine code" };
			note.textContent = "The trace has no text of this procedure.";
			list.set(
				{
					nr: l.text.length,
					row: n => ({
						number: "+" + l.offset[n].toString(16),
						arrows: l.arrows[n],
						text: l.text[n],
						share: 0,
						part: 0,
						runs:
							l.counted?.[n] !== undefined
								? marked({ count: l.counted[n], state: "counted" })
								: marked(counts.executions(l.runs?.[n]))
					}),
					choose: n => l.to[n] >= 0 && list.see(l.to[n])
				},
				before?.machine === machine
			);
		}
		el.querySelector("h2").textContent = shownCode.title;
	}

	return { el, draw, title: () => (el.hidden ? null : shownCode.title) };
}
