// SPDX-License-Identifier: MIT
// This view shows the executions of procedures, and call sites with the procedures that were called there, from the host's counters.
import { h, name, shown } from "../dom.js";
import { tablebox } from "../tablebox.js";
import { callGraph, sitesOf } from "../callgraph.js";
import { dialCard } from "../dials.js";
import { idOf, procedureCode } from "../procedurecode.js";
import { callText, countsOf, functionName, perTitle, perType, unitOf } from "../counts.js";
import { count } from "../format.js";

const CONTRADICTIONS = 5;

let page, procedureBox, siteTitle, siteBox, allButton, graph, dials, code, said;
let counts, times, rows = [], siteRows = { all: [], into: [], made: [] };

const chosen = () => { // The page's address is foreign text, so the number may be of no function.
	const i = Number(page.state.option("procedure") ?? -1);
	return counts.functions[i] ? i : -1;
};
const site = () => page.state.option("site") ?? "";

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

// -------------------------------------------------------------------------------------------------------------------- view

export const calls = {
	id: "calls",
	title: "Calls",
	when: p => Boolean(p.data[0].flow?.any) && p.data[0].flow.nr > 0,
	mount(el, p) {
		page = p;
		[procedureBox, siteBox, said] = ["div", "div", "ul"].map(tag => h(tag));
		siteTitle = h("h2");
		allButton = h("button", { class: "small", title: "Call sites of all procedures", onclick: () => walk(-1) }, "All");
		graph = callGraph(page, {
			now: () => ({ counts, procedure: chosen(), times, site: site() }),
			walk,
			choose: s => walk(s.caller >= 0 ? s.caller : chosen(), s.id)
		});
		code = procedureCode(page, walk);
		dials = dialCard(page);
		el.append(h("section", { class: "card" }, h("header", {}, h("h2", {}, "Execution counts")), said),
			h("section", { class: "card half" }, h("header", {}, h("h2", {}, "Procedures")), procedureBox),
			h("section", { class: "card half" }, h("header", {}, siteTitle, allButton), siteBox), graph.el, dials.el, code.el);
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
		code.draw(counts, chosen(), site());
		dials.draw(counts, chosen());
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
			code: code.title()
		};
	},
};
