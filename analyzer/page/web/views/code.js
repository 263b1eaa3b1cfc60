// SPDX-License-Identifier: MIT
// The text that code was generated from and the machine code stand side by side, with heat by any event.  Pointing
// at a line shows what it became.
import { h, shown } from "../dom.js";
import { tablebox } from "../tablebox.js";
import { baseName, differentTexts, languageLines, lineOf, sumsOfLine } from "../texts.js";
import { COUNTS, heatBy, heatEvent, lineId, lineOwner, sumsBy } from "../lineheat.js";
import { machinePane } from "../machinepane.js";
import { sourcePane } from "../sourcepane.js";
import { countColumns, countsOf, perTitle } from "../counts.js";

const MUCH = 0.05; // Code with a larger share of the samples should not lack its text.
let page, panes = [], heatSelect, heat, hottestBox, missing, rows = [], hottestLines;

// -------------------------------------------------------------------------------------------------------------- panes

// Marks the lines that the pointer is at in the other panes.
function point(at) {
	for (const p of panes) p.mark(at);
}

// An idle text leaves its place to the machine code beside it.
function arrange() {
	if (panes.length) panes[0].el.hidden = panes.length === 2 && panes[0].kind === "text" && panes[0].idle();
	const seen = panes.filter(p => !p.el.hidden);
	for (const pane of panes) pane.el.className = `card ${["all", "half", "third"][seen.length - 1]}`;
	seen[0]?.el.querySelector("header").append(heat);
}

// ------------------------------------------------------------------------------------------------------- hottest lines

// Lines without a text are shown by name.  They are lines of a language that leads, or source lines.  If there are none either, functions
// take their place, if `functions` is set.
function namedRows(functions) {
	const { facts, dimensions } = page, level = languageLines(facts);
	const told = new Set(facts.sources.flatMap(s => s.of.map((v, i) => (v ? `${baseName(s.name)}:${lineOf(s, i)}` : ""))));
	for (const id of [...(level >= 0 ? [`level:${level}`] : []), "line", ...(functions ? ["function"] : [])]) {
		const sums = sumsBy(page, id), dimension = dimensions.get(id);
		const rows = dimension.values
			.filter(v => v && !told.has(dimension.label(v)))
			.map(v => ({ id, v, of: sums.of(v), name: dimension.label(v) }))
			.filter(({ of: [measure] }) => measure > 0)
			.map(({ of: [measure, samples], ...row }) =>
				({ ...row, share: measure / (sums.total || 1), samples, owner: 0, text: "" }));
		if (rows.length) return rows;
	}
	return [];
}

function hottest() {
	const { facts } = page, list = [];
	for (const source of differentTexts(facts.sources, v => page.dimensions.merged(v)).map(i => facts.sources[i])) {
		const sums = sumsBy(page, lineId(source));
		source.of.forEach((v, i) => {
			const [measure, samples, weight] = sumsOfLine(source, i, sums, w => page.dimensions.merged(w));
			if (measure > 0)
				list.push({
					source, i, share: measure / (sums.total || 1), samples, weight,
					component: source.level >= 0 ? v : 0, owner: source.level >= 0 ? lineOwner(page, v) : 0,
					name: `${baseName(source.name)}:${lineOf(source, i)}`, text: source.lines[i].trim()
				});
		});
	}
	if (!list.length || facts.sources.every(s => s.file)) list.push(...namedRows(list.length === 0));
	return list.sort((a, b) => b.share - a.share).slice(0, 200);
}

function go(row, event) {
	const { state, facts } = page;
	if (row.id) return state.toggle(row.id, row.v, event.shiftKey);
	const pane = panes.find(p => p.source === row.source) ?? panes[0];
	if (pane.source !== row.source) state.option("text", String(facts.sources.indexOf(row.source)));
	panes[0].list.see(row.i);
	point({ file: row.source.name, line: lineOf(row.source, row.i), source: row.source });
}

export const code = {
	id: "code",
	title: "Code",
	mount(el, p) {
		page = p;
		const { facts, state } = page;
		heatSelect = h("select", { "aria-label": "Heat by", onchange: () => state.option("heat", heatSelect.value) });
		panes = [];
		const first = () => panes[0];
		if (facts.sources.length) panes.push(sourcePane(page, 0, { first, point }));
		if (facts.listings.length) panes.push(machinePane(page, point));
		if (facts.sources.length > 1 && facts.sources.some(s => s.level !== facts.sources[0].level))
			panes.push(sourcePane(page, 1, { first, point }));
		const counted = page.data[0].flow?.any;
		heat = h("label", { class: "note", hidden: facts.events.length < 2 && !counted }, "heat by ", heatSelect);
		hottestBox = h("div");
		missing = h("p", { class: "note" });
		if (!panes.length)
			el.append(
				h("section", { class: "card" },
					h("p", { class: "note" },
						"The trace has no text of generated code and no code bytes: " +
							"the host registered none, or no sample is in generated code."
					)
				)
			);
		el.append(
			...panes.map(x => x.el),
			h("section", { class: "card" },
				h("header", {}, h("h2", {}, "Hottest lines"), panes.length ? null : heat),
				missing,
				hottestBox
			)
		);
	},
	draw() {
		const { colours, dimensions } = page;
		heatSelect.replaceChildren(
			...page.facts.events.map((e, i) => h("option", { value: String(i) }, shown(e.name, 40))),
			...(page.data[0].flow?.any ? COUNTS : []).map(key =>
				h("option", { value: key }, key === "executions" ? key : perTitle(page))
			)
		);
		heatSelect.value = COUNTS.includes(heatBy(page)) ? heatBy(page) : String(heatEvent(page));
		for (const pane of panes) pane.draw();
		arrange();
		rows = hottest();
		missing.hidden = !rows[0]?.id || rows[0].id === "function" || rows[0].share < MUCH;
		missing.textContent = "The text of the hottest was not found: tailor html --source-path says where it is.";
		hottestLines = {
			name: "hottest-lines",
			rows,
			tools: true,
			most: 30,
			sort: "share",
			click: go,
			columns: [
				{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
				{ key: "samples", title: "samples", type: "count", value: r => r.samples },
				...(heatEvent(page) === (page.state.filters.event?.values[0] ?? 0) &&
				rows.some(r => r.component && countsOf(page)?.executions(r.component))
					? countColumns(page, r => r.component, r => r.weight)
					: []),
				...(rows.some(r => r.owner)
					? [
							{
								key: "owner",
								title: dimensions.get(dimensions.main).title,
								type: "text",
								value: r => (r.owner ? dimensions.component(r.owner) : ""),
								colour: r => colours.of(dimensions.main, r.owner)
							}
						]
					: []),
				{
					key: "at",
					title: rows.every(r => r.id === "function") ? "function" : "line",
					type: "text",
					value: r => r.name
				},
				...(rows.some(r => r.text) ? [{ key: "text", title: "text", type: "text", value: r => r.text }] : [])
			]
		};
		hottestBox.replaceChildren(tablebox(hottestLines).el);
	},
	table: () => hottestLines,
	drawn: () => ({
		panes: panes.map(p => p.kind),
		blocks: panes.find(p => p.kind === "text")?.drawn() ?? [],
		hottest: rows.slice(0, 20).map(({ name, text, share, samples }) => ({ name, text, share, samples }))
	})
};
