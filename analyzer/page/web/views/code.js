// SPDX-License-Identifier: MIT
// The text that code was generated from and the machine code stand side by side, with heat by any event.  Pointing
// at a line shows what it became.
import { h, shown } from "../dom.js";
import { percent } from "../format.js";
import { listing } from "../listing.js";
import { blockText, blocksOf, levelsAbove, lineTip, ownersOf, ownersText } from "../linefacts.js";
import { tablebox } from "../tablebox.js";
import { differentTexts, fileOfStep, isIn, isOf, languageLines, lineOf, rowOf, sumsOfLine } from "../texts.js";
import { skid } from "../causes.js";
import { countColumns, countsOf, marked, perTitle } from "../counts.js";

// A text with a smaller share of the samples is not worth a pane, and code with a larger one should not lack its text.
const LEAST = 0.005, MUCH = 0.05;
const base = path => String(path ?? "").slice(String(path ?? "").lastIndexOf("/") + 1);
let page, panes = [], heatSelect, heat, hottestBox, missing, rows = [], hottestLines;

// ---------------------------------------------------------------------------------------------------------------- sums

const COUNTS = ["executions", "per_execution"]; // Lines are coloured by these as well as by events, where the host counts.
const heatBy = () => page.state.option("heat") ?? "";
const heatEvent = () => Number((COUNTS.includes(heatBy()) ? null : page.state.option("heat")) ?? page.state.filters.event?.values[0] ?? 0);

// Returns the number that decides a line's colour, which is its executions, its cost an execution, or its cost.
function heatOf(ran, measure, weight) {
	if (heatBy() === "executions") return ran ?? 0;
	return heatBy() === "per_execution" ? (ran > 0 ? weight / ran : 0) : measure;
}
const lineId = source => source.level >= 0 ? `level:${source.level}` : "line";

// Returns the sums of a dimension's values for the event of heatEvent(), under all filters but those of events and of `except`. of(value)
// is [measure, samples, weight], and total is the measure of all values.
function sumsBy(id, except = [id]) {
	const { state } = page, sums = state.sums("event", id, ["event", ...except]), e = heatEvent(), dimension = page.dimensions.get(id);
	let total = 0;
	for (let j = 0; j < sums.nrB; j++) total += sums.measure(e, j);
	return { total, of(value) {
		const j = dimension.at.get(value);
		return j === undefined ? [0, 0, 0] : [sums.measure(e, j), sums.samples(e, j), sums.weight(e, j)];
	} };
}

// Returns the plan's component that a line's component leads to by its links upwards.
const owners = new Map();
function owner(component) {
	if (owners.has(component)) return owners.get(component);
	owners.set(component, 0);
	const { components } = page.facts, level = page.dimensions.ownerLevel;
	let found = components.level[component] === level ? component : 0;
	for (const up of components.links[component] ?? []) found ||= owner(up);
	owners.set(component, found);
	return found;
}

// -------------------------------------------------------------------------------------------------------------- panes

function sourcePane(nr) {
	const { facts, state, colours, dimensions } = page, list = listing(nr ? "Second text" : "Text that code was generated from");
	const option = nr ? "text2" : "text", order = facts.sources.map((s, i) => i);
	const texts = () => differentTexts(facts.sources, v => dimensions.merged(v));
	const select = h("select", { "aria-label": "Text", onchange: () => state.option(option, select.value) });
	const note = h("p", { class: "note" });
	const el = h("section", { class: "card" }, h("header", {}, h("h2", {}, nr ? "Source" : "Text"), select), note, list.el);
	let source, before, blocks = new Map(), levels = [], share = 0;

	// Returns a line's components of the levels above, in columns.
	const owners = value => levels.map(level => ownersText(page, ownersOf(page, value).find(([l]) => l === level)?.[1] ?? []));

	// A label's line is shown without its comment, whose place the block's cost takes.
	const textOf = i => blocks.has(i) ? source.lines[i].replace(/:\s+;.*$/, ":") : source.lines[i].replaceAll("\t", "    ");

	// The second pane has another level than the first: IR beside a script, or a source file beside IR.
	const other = () => nr ? order.find(i => facts.sources[i].level !== panes[0].source.level) ?? order[nr] : order[0];
	const chosen = () => facts.sources[Number(state.option(option) ?? -1)] ?? facts.sources[other()] ?? facts.sources[0];
	function compute(s) {
		const id = lineId(s), sums = sumsBy(id), counts = s.level >= 0 ? countsOf(page) : null;
		const at = i => sumsOfLine(s, i, sums, v => dimensions.merged(v));
		const heat = s.of.map((v, i) => {
			const [measure, , weight] = at(i);
			return v ? heatOf(counts?.executions(v)?.count, measure, weight) : 0;
		});
		const top = Math.max(1e-9, ...heat);
		return {
			sums,
			hottest: Math.max(0, heat.findLastIndex(x => x >= top)),
			part: i => heat[i] / top,
			share: i => at(i)[0] / (sums.total || 1),
			all: s.of.reduce((a, _, i) => a + at(i)[0], 0)
		};
	}
	function draw() {
		order.splice(
			0,
			order.length,
			...texts()
				.map(i => [i, compute(facts.sources[i]).all])
				.sort((a, b) => b[1] - a[1])
				.map(([i]) => i)
		);
		source = chosen();
		const now = compute(source), id = lineId(source);
		share = now.all / (now.sums.total || 1);
		select.replaceChildren(
			...order.map(i =>
				h("option", { value: String(i) },
					shown(
						`${base(facts.sources[i].name) || "text"} ` +
							`(${percent(compute(facts.sources[i]).all / (now.sums.total || 1), 0)})`,
						60
					)
				)
			)
		);
		select.value = String(facts.sources.indexOf(source));
		note.textContent =
			`${percent(share)} of the samples that pass are on its lines.` +
			(source.newer ? " The file is newer than the program: its text may differ." : "") +
			(source.level >= 0 && !source.file && skid(facts, heatEvent())
				? ` ${skid(facts, heatEvent()).replace("single instruction", "line of few instructions")}`
				: "");
		blocks = source.level >= 0 && !source.file ? blocksOf(page, source, id, heatEvent()) : new Map();
		levels =
			source.level >= 0 && list.el.clientWidth >= 500
				? levelsAbove(page, source.of).slice(0, list.el.clientWidth < 860 ? 1 : 2)
				: [];
		const counts = countsOf(page), runs = Boolean(counts && source.level >= 0 && source.of.some(v => counts.executions(v)));
		list.set(
			{
				nr: source.lines.length,
				runs,
				row: i => ({
					runs: runs ? marked(counts.executions(source.of[i])) : "",
					number: lineOf(source, i) ? String(lineOf(source, i)) : "⋮",
					text: textOf(i),
					share: now.share(i),
					part: now.part(i),
					owners: levels.length ? (source.of[i] ? owners(source.of[i]) : levels.map(() => "")) : null,
					note: blocks.has(i) ? `${percent(blocks.get(i).share)} ${blockText(page, blocks.get(i))}` : null,
					tag:
						source.level >= 0 && owner(source.of[i])
							? colours.of(dimensions.main, owner(source.of[i]))
							: null
				}),
				tip: i =>
					source.of[i]
						? lineTip(page, id, source.of[i], source.lines[i].trim())
						: blocks.has(i)
							? [
									textOf(i).trim(),
									`the block: ${percent(blocks.get(i).share)} ` +
										blockText(page, blocks.get(i))
								]
							: null,
				choose: (i, e) => source.of[i] && state.toggle(id, source.of[i], e.shiftKey),
				hover: i => point(i >= 0 ? { file: source.name, line: lineOf(source, i), source } : {})
			},
			before === source,
			now.hottest
		);
		before = source;
	}
	// A file is idle if hardly any sample is in it, and the reader did not choose it.
	const idle = () => Boolean(source.file) && state.option(option) === undefined && share < LEAST;
	return {
		el,
		draw,
		list,
		kind: "text",
		idle,
		get source() {
			return source;
		},
		drawn: () =>
			[...blocks].map(([i, { share, parts }]) => ({
				line: i + 1,
				share,
				parts: parts.map(p => [dimensions.get(dimensions.main).label(p.value), p.share])
			})),
		mark: at => list.mark(new Set(at.line && (at.source === source || isOf(source, at.file)) ? [rowOf(source, at.line)] : []))
	};
}

function machinePane() {
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
		const sums = sumsBy("place"), costs = facts.listings.map(l => rowsOf(l).reduce((a, [place]) => a + sums.of(place)[0], 0));
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
		const late = skid(facts, heatEvent()), blocks = page.data[0].causes?.find(l) ?? -1;
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
		const heat = l.offset.map((_, i) => heatOf(ran(i)?.count, cost[i], weight[i])), top = Math.max(1e-9, ...heat);
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
					title: l.line[i] ? `${base(fileOfStep(l, i))}:${l.line[i]}` : null
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
	const told = new Set(facts.sources.flatMap(s => s.of.map((v, i) => (v ? `${base(s.name)}:${lineOf(s, i)}` : ""))));
	for (const id of [...(level >= 0 ? [`level:${level}`] : []), "line", ...(functions ? ["function"] : [])]) {
		const sums = sumsBy(id), dimension = dimensions.get(id);
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
		const sums = sumsBy(lineId(source));
		source.of.forEach((v, i) => {
			const [measure, samples, weight] = sumsOfLine(source, i, sums, w => page.dimensions.merged(w));
			if (measure > 0)
				list.push({
					source, i, share: measure / (sums.total || 1), samples, weight,
					component: source.level >= 0 ? v : 0, owner: source.level >= 0 ? owner(v) : 0,
					name: `${base(source.name)}:${lineOf(source, i)}`, text: source.lines[i].trim()
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
		if (facts.sources.length) panes.push(sourcePane(0));
		if (facts.listings.length) panes.push(machinePane());
		if (facts.sources.length > 1 && facts.sources.some(s => s.level !== facts.sources[0].level)) panes.push(sourcePane(1));
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
		heatSelect.value = COUNTS.includes(heatBy()) ? heatBy() : String(heatEvent());
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
				...(heatEvent() === (page.state.filters.event?.values[0] ?? 0) &&
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
