// SPDX-License-Identifier: MIT
// This view shows the executions of procedures, and call sites with the procedures that were called there, from the host's counters.
import { h, name, shown } from "../dom.js";
import { tablebox } from "../tablebox.js";
import { listing } from "../listing.js";
import { callGraph, sitesOf } from "../callgraph.js";
import { assume } from "../flow.js";
import { callText, countsOf, functionName, marked, perTitle, perType, unitOf } from "../counts.js";
import { count, percent } from "../format.js";

const DIALS = 12, CONTRADICTIONS = 5;

let page, procedureBox, siteTitle, siteBox, allButton, intoBox, madeBox, graph, dialCard, dialBox, codeCard, code, said, codeNote;
let counts, times, rows = [], siteRows = { all: [], into: [], made: [] }, where = null, shownCode = null;

const chosen = () => { // The page's address is foreign text, so the number may be of no function.
	const i = Number(page.state.option("procedure") ?? -1);
	return counts.functions[i] ? i : -1;
};
const site = () => page.state.option("site") ?? "";
const idOf = c => `${c.caller} ${c.block} ${c.site}`;

function walk(i, at = "") {
	page.state.options.site = at;
	page.state.options.procedure = String(i);
	page.state.changed();
}

// Returns the time of each function's component under the filters, and that with callees, which numbers of calls divide.
function timesNow() {
	const { facts, state, dimensions } = page, of = new Map();
	let all = 0;
	for (const { component } of counts.functions) {
		const level = facts.components.level[component];
		if (!component || of.has(level)) continue;
		of.set(level, state.sums(`level:${level}`));
		all = Math.max(all, of.get(level).totalMeasure);
	}
	const at = (component, what) => {
		const level = facts.components.level[component];
		const key = component ? dimensions.get(`level:${level}`).at.get(component) : undefined;
		return key === undefined ? 0 : of.get(level)[what](key);
	};
	const own = Float64Array.from(counts.functions, f => at(f.component, "measure"));
	return own.some(t => t > 0)
		? { own, weight: counts.functions.map(f => at(f.component, "weight")), all, ...counts.times(own) }
		: null;
}

// ------------------------------------------------------------------------------------------------------------------ tables

const share = (list, i) => (times ? list[i] / times.all : null);

function procedureTable() {
	rows = counts.functions;
	const out = f => (f.component ? counts.out[f.component]?.count ?? null : null);
	return tablebox({
		name: "functions-by-executions",
		rows,
		tools: true,
		sort: "executions",
		click: f => walk(f.function),
		chosen: f => f.function === chosen(),
		columns: [
			{ key: "executions", title: "executions", type: "count", value: f => f.count },
			{ key: "executions_state", title: "by", type: "text", narrow: true, value: f => f.state },
			{ key: "calls_out", title: "calls out", type: "count", value: out },
			{ key: "share", title: "self", type: "share", value: f => (times ? share(times.own, f.function) : null) },
			{
				key: "total", title: "total", type: "share",
				value: f => (times ? share(times.total, f.function) : null), bar: true
			},
			{
				key: "per_execution",
				title: perTitle(page),
				type: perType(page),
				value: f =>
					f.component && f.count > 0 && times?.weight[f.function] > 0
						? times.weight[f.function] / f.count
						: null
			},
			{ key: "name", title: "procedure", type: "text", value: f => functionName(page, counts, f.function, "(unnamed)") }
		]
	}).el;
}

const callColumns = list => [
	{ key: "calls", title: "calls", type: "count", value: c => c.count },
	{ key: "state", title: "by", type: "text", narrow: true, value: c => c.state },
	...(list.some(c => c.most !== null) ? [{ key: "most", title: "at most", type: "count", value: c => c.most }] : []),
	{ key: "total", title: "total", type: "share", value: c => (times ? share(times.ofCall, c.call) : null), bar: true }];
const CALLER = { key: "caller", title: "caller", type: "text", value: c => functionName(page, counts, c.caller, "(elsewhere)") };
const SITE = { key: "site", title: "site", type: "count", value: c => (c.caller < 0 ? null : c.site) };
const CALLEE = { key: "callee", title: "callee", type: "text", value: c => functionName(page, counts, c.callee, "(unknown)") };

function callTable(name, list, columns, click) {
	return tablebox({
		name,
		rows: list,
		tools: true,
		sort: "calls",
		columns: [...callColumns(list), ...columns],
		click,
		chosen: c => idOf(c) === site()
	}).el;
}

const table = (title, ...children) => [h("h3", {}, title), ...children];

function siteTables() {
	const i = chosen(), called = functionName(page, counts, i, "");
	allButton.hidden = i < 0;
	siteTitle.textContent = i < 0 ? "Call sites and their callees" : "Call sites";
	siteRows = {
		all: i < 0 ? counts.calls : [],
		into: i < 0 ? [] : counts.calls.filter(c => c.callee === i),
		made: i < 0 ? [] : counts.calls.filter(c => c.caller === i)
	};
	if (i < 0) {
		siteBox.replaceChildren(
			callTable("call-sites", siteRows.all, [CALLER, SITE, CALLEE], c =>
				walk(c.caller >= 0 ? c.caller : c.callee, idOf(c))
			)
		);
		return;
	}
	// A caller's row leads to the call site, and a callee's row to the procedure.
	const sites = new Map(sitesOf(siteRows.made).map(s => [s.id, s]));
	siteBox.replaceChildren(
		...table(
			h("span", {}, "That call ", name(called, 60)),
			!siteRows.into.length
				? h("p", { class: "note" }, "No call site that the host announced calls it.")
				: callTable("called-from", siteRows.into, [CALLER, SITE], c =>
						c.caller >= 0 ? walk(c.caller, idOf(c)) : walk(i, idOf(c))
					)
		),
		...table(
			h("span", {}, "In ", name(called, 60)),
			!siteRows.made.length
				? h("p", { class: "note" }, "It has no call sites that the host announced.")
				: callTable(
						"calls-made",
						siteRows.made,
						[
							SITE,
							{
								key: "site_calls", title: "of the site",
								type: "count",
								value: c => sites.get(idOf(c)).count
							},
							CALLEE
						],
						c => (c.callee >= 0 ? walk(c.callee) : walk(i, idOf(c)))
					)
		)
	);
}

// ------------------------------------------------------------------------------------------------------------------- dials

// The calls that the counts leave open, or that the reader has assumed, with those of the chosen procedure first.
function openCalls() {
	const i = chosen(), near = c => (c.caller === i || c.callee === i ? 1 : 0);
	return counts.calls.filter(c => c.state === "estimated" || counts.assumed.has(c.call))
		.sort((a, b) => near(b) - near(a) || (b.count ?? 0) - (a.count ?? 0)).slice(0, DIALS);
}

function dial(c) {
	const { flow } = page.data[0];
	const others = new Map([...counts.assumed].filter(([call]) => call !== c.call));
	const most = flow.solve(others).calls[c.call].most;
	const label = callText(page, counts, c);
	const set = v => assume(page.state, c.call, Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, Math.round(Number(v)))));
	const range =
		most === null
			? null
			: h("input", {
					type: "range",
					min: "0",
					max: String(Math.max(1, most, c.count ?? 0)),
					step: "1",
					"aria-label": `Assume calls: ${shown(label)}`,
					oninput: () => set(range.value)
				});
	const number = h("input", {
		type: "number",
		min: "0",
		step: "1",
		class: "assumed",
		"aria-label": `Assumed calls: ${shown(label)}`,
		onchange: () => number.value !== "" && set(number.value),
		onkeydown: e => e.key === "Enter" && number.value !== "" && set(number.value)
	});
	if (range) range.value = String(c.count ?? 0);
	number.value = String(c.count ?? "");
	return h("div", { class: "dial" },
		h("span", { class: "dial-name" }, name(label, 80)),
		range,
		number,
		h("span", { class: "note" }, `${c.state}${most === null ? "" : `, at most ${count(most)}`}`),
		counts.assumed.has(c.call)
			? h("button", {
					class: "small",
					title: "Assume nothing of this call",
					onclick: () => assume(page.state, c.call, null)
				}, "Reset")
			: null
	);
}

function dials() {
	const list = openCalls(), focus = document.activeElement?.getAttribute?.("aria-label");
	dialCard.hidden = !list.length;
	dialBox.replaceChildren(...list.map(dial));
	// A dial that is being turned keeps the focus.
	if (focus)
		[...dialBox.querySelectorAll("input")].find(el => el.getAttribute("aria-label") === focus)?.focus({ preventScroll: true });
	const said = [...counts.assumed]
		.filter(([c]) => counts.calls[c])
		.map(([c, n]) => `--assume '${callText(page, counts, counts.calls[c]).replace(" → ", "->")}=${n}'`);
	if (said.length) dialBox.append(h("p", { class: "note" }, "The same in a terminal: ", h("code", {}, shown(said.join(" "), 2000))));
}

// ---------------------------------------------------------------------------------------------------------------- sentences

function sentences() {
	const of = state => counts.calls.filter(c => c.state === state).length;
	const parts = ["counted", "assumed", "solved", "estimated"].map(s => [s, of(s)]).filter(([, nr]) => nr);
	const off = counts.functions.filter(f => f.by >= 0), list = [];
	const partsText = parts.map(([s, nr]) => `${count(nr)} ${nr === 1 ? "is" : "are"} ${s}`).join(", ");
	list.push(
		counts.calls.length
			? `Of ${count(counts.calls.length)} calls ${partsText || "none is known"}.` +
					" Counted: by a counter of the host (no mark). Solved (=): what follows from counters." +
					" Estimated (≈): several counts are possible, these are near equal parts." +
					(counts.assumed.size ? " Assumed (!): as the reader says." : "")
			: "The host counts executions, and announced no calls."
	);
	for (const f of off.slice(0, CONTRADICTIONS))
		list.push(
			`Counts of ${functionName(page, counts, f.function, "(unnamed)")} contradict each other` +
				(f.by
					? ` by ${count(f.by)}: left by longjmp or an exception, running when it was read, ` +
						"or a counter was overwritten."
					: ": an arc would have run less than 0 times.")
		);
	if (off.length > CONTRADICTIONS) list.push(`${off.length - CONTRADICTIONS} more functions have counts that contradict each other.`);
	for (const c of counts.refused)
		if (counts.calls[c]) list.push(`${callText(page, counts, counts.calls[c])} is counted, and not assumed.`);
	if (times)
		list.push(
			"Counts are of the whole recording; times of the samples that pass the filters, " +
				"with callees by the numbers of calls."
		);
	return list;
}

// -------------------------------------------------------------------------------------------------------------------- code

// The components that are lines of texts, and their functions' blocks.  This is made once.
function whereLines() {
	const { facts } = page, of = new Map(), blocks = new Map();
	facts.sources.forEach((source, s) => source.level >= 0 && source.of.forEach((c, line) => c && of.set(c, { source, s, line })));
	counts.functions.forEach((f, i) => {
		for (let b = 0; b < facts.flow.functions.blocks[i]; b++)
			for (const c of counts.blocks(i, b)) if (of.has(c)) blocks.set(c, { function: i, block: b });
	});
	return { of, blocks };
}

function linesOf(i, block) {
	const blocks = block === undefined ? Array.from({ length: page.facts.flow.functions.blocks[i] }, (_, b) => b) : [block];
	return blocks.flatMap(b => counts.blocks(i, b)).map(c => where.of.get(c)).filter(Boolean);
}

// Returns the number of the listing with a function's machine code, or -1.
function machineOf(i) {
	const { facts } = page, { named } = page.data[0].flow, { component } = counts.functions[i];
	return component
		? facts.listings.findIndex(l => facts.functions.name.some((n, f) => n === l.name && named.get(f) === component))
		: -1;
}

function showCode() {
	const i = chosen(), { facts, state, dimensions } = page, at = /^(-?\d+) (\d+) (\d+)$/.exec(site());
	where ??= whereLines();
	const lines = i < 0 ? [] : linesOf(i), machine = i < 0 || lines.length ? -1 : machineOf(i);
	codeCard.hidden = !lines.length && machine < 0;
	if (codeCard.hidden) return;
	const marks = at && Number(at[1]) === i ? linesOf(i, Number(at[2])) : [], before = shownCode;
	if (lines.length) {
		const { source, s } = lines[0];
		const sums = state.sums(`level:${source.level}`);
		const dimension = dimensions.get(`level:${source.level}`);
		const measure = c => (!c || dimension.at.get(c) === undefined ? 0 : sums.measure(dimension.at.get(c)));
		const top = Math.max(1e-9, ...source.of.map(measure));
		shownCode = { text: s, title: "Text" };
		codeNote.textContent =
			`The lines of ${functionName(page, counts, i, "it")}${marks.length ? ", and of the call site," : ""} are marked. ` +
			"Choosing a line leads to the procedure that it is of.";
		code.set(
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
		code.mark(new Set((marks.length ? marks : lines).filter(l => l.source === source).map(l => l.line)));
		code.see((marks[0] ?? lines[0]).line);
	} else {
		const l = facts.listings[machine];
		shownCode = { machine, title: "Machine code" };
		codeNote.textContent = "The trace has no text of this procedure.";
		code.set(
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
				choose: n => l.to[n] >= 0 && code.see(l.to[n])
			},
			before?.machine === machine
		);
	}
	codeCard.querySelector("h2").textContent = shownCode.title;
}

function toCode() {
	const { state } = page;
	if (shownCode.text !== undefined) state.options.text = String(shownCode.text);
	else state.options.machine = String(shownCode.machine);
	state.show("code");
}

// -------------------------------------------------------------------------------------------------------------------- view

export const calls = {
	id: "calls",
	title: "Calls",
	when: p => Boolean(p.data[0].flow?.any) && p.data[0].flow.nr > 0,
	mount(el, p) {
		page = p;
		[procedureBox, siteBox, dialBox, said] = ["div", "div", "div", "ul"].map(tag => h(tag));
		siteTitle = h("h2");
		allButton = h("button", { class: "small", title: "Call sites of all procedures", onclick: () => walk(-1) }, "All");
		graph = callGraph(page, {
			now: () => ({ counts, procedure: chosen(), times, site: site() }),
			walk,
			choose: s => walk(s.caller >= 0 ? s.caller : chosen(), s.id)
		});
		code = listing("Code of the procedure");
		code.el.classList.add("short");
		codeNote = h("p", { class: "note" });
		dialCard = h("section", { class: "card" },
			h("header", {}, h("h2", {}, "What the counts leave open")),
			h("p", { class: "note" },
				"Several counts are possible for these calls. " +
					"What you know better is assumed, and all counts and times follow."
			),
			dialBox
		);
		codeCard = h("section", { class: "card" },
			h("header", {}, h("h2", {}, "Text"), h("button", { class: "small", onclick: toCode }, "Open in Code")),
			codeNote,
			code.el
		);
		el.append(h("section", { class: "card" }, h("header", {}, h("h2", {}, "Execution counts")), said),
			h("section", { class: "card half" }, h("header", {}, h("h2", {}, "Procedures")), procedureBox),
			h("section", { class: "card half" }, h("header", {}, siteTitle, allButton), siteBox), graph.el, dialCard, codeCard);
	},
	draw() {
		counts = countsOf(page);
		times = timesNow();
		said.replaceChildren(...sentences().map(s => h("li", {}, shown(s, 600))));
		procedureBox.replaceChildren(procedureTable());
		siteTables();
		graph.el.hidden = chosen() < 0;
		graph.el.querySelector("h2").textContent = `Calls around ${shown(functionName(page, counts, chosen(), ""), 60)}`;
		if (chosen() >= 0) graph.draw();
		showCode();
		dials();
	},
	drawn() {
		const call = c => ({
			calls: c.count,
			state: c.state,
			most: c.most,
			total: times ? times.ofCall[c.call] / times.all : null,
			caller: functionName(page, counts, c.caller, "(elsewhere)"),
			site: c.caller < 0 ? null : c.site,
			callee: functionName(page, counts, c.callee, "(unknown)")
		});
		return {
			unit: unitOf(page),
			procedures: counts.functions.map(f => ({
				name: functionName(page, counts, f.function, "(unnamed)"),
				executions: f.count,
				state: f.state,
				self: times ? times.own[f.function] / times.all : null,
				total: times ? times.total[f.function] / times.all : null
			})),
			calls: counts.calls.map(call),
			procedure: functionName(page, counts, chosen(), ""),
			around: chosen() < 0 ? [] : graph.drawn(),
			said: sentences(),
			code: codeCard.hidden ? null : shownCode.title
		};
	},
};
