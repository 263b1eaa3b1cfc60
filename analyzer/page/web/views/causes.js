// SPDX-License-Identifier: MIT
// The view of where the cycles went has blocks of functions with their executions, best and actual cases, and the
// causes of stalls within bounds.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { tablebox } from "../tablebox.js";
import { listing } from "../listing.js";
import { blockGraph } from "../blockgraph.js";
import { skid } from "../causes.js";
import { countsOf } from "../counts.js";
import { count, percent, short } from "../format.js";

const ROW = 22, LEAST = 0.0005, NOTEWORTHY = 0.01;

let page, causes, figures, notes, ofSelect, bars, functionBox, functionSelect, functionCard;
let graph, blockBox, detailCard, detailBox, code, closeButton;
let judged, sum, rows = [], functionRows = [], blockRows = [];

const range = (low, high) =>
	Math.round(100 * low) === Math.round(100 * high)
		? `${Math.round(100 * low)} %`
		: `${Math.round(100 * low)}–${Math.round(100 * high)} %`;
const causeName = c => page.facts.causes.culprits[c].name;
const namesOf = x => x.causes.slice(0, 2).map(c => `${causeName(c)} ${range(x.least[c] / x.cycles, x.most[c] / x.cycles)}`).join(", ");
const chosen = () => {
	const i = Number(page.state.option("function") ?? -1);
	return causes.functions[i] ? i : functionRows[0]?.i ?? 0;
};
const chosenBlock = () => {
	const b = Number(page.state.option("block") ?? -1);
	return causes.functions[chosen()].offset[b] === undefined ? -1 : b;
};
const blockOf = b => judged.of[causes.functions[chosen()].first + b];

function choose(i, block = -1) {
	page.state.options.block = String(block);
	page.state.options.function = String(i);
	page.state.changed();
}

// The rows of DCPI's summary are execution, then causes, the likeliest first, and at last what is unexplained or not analyzed. (J. Anderson
// et al., SOSP 1997, figure 4)
function summary() {
	const { all, kernel } = judged, list = [], known = sum.cycles, user = all - kernel;
	const add = (key, name, low, high, by) => list.push({ key, name, low: low / all, high: high / all, by });
	if (!(all > 0)) return list;
	if (known > 0) add("execution", "execution", sum.floor, sum.floor, "instructions");
	page.facts.causes.culprits.map((c, i) => i).filter(i => sum.most[i] >= LEAST * all)
		.sort((a, b) => sum.least[b] + sum.most[b] - sum.least[a] - sum.most[a] || a - b)
		.forEach(i => add(page.facts.causes.culprits[i].key, causeName(i), sum.least[i], sum.most[i], causes.evidence(judged, i)));
	if (sum.unexplained > LEAST * all) add("unexplained", "unexplained", sum.unexplained, sum.unexplained, "");
	if (user - known > LEAST * all) add("not_analyzed", "not analyzed", user - known, user - known, "");
	return list;
}

function compute() {
	judged = causes.judge(page.state);
	sum = causes.sum(judged, 0, causes.nr, judged.kernel);
	rows = summary();
	functionRows = causes.functions.map((f, i) => {
		const of = judged.of.slice(f.first, f.first + f.offset.length);
		const measure = of.reduce((a, b) => a + b.measure, 0);
		const samples = of.reduce((a, b) => a + b.samples, 0);
		return {
			f,
			i,
			measure,
			samples,
			share: measure / (judged.measured || 1),
			loss: judged.stalls ? causes.sum(judged, f.first, f.first + f.offset.length) : null
		};
	}).filter(r => r.samples > 0).sort((a, b) => b.measure - a.measure);
	const f = causes.functions[chosen()];
	blockRows = f.offset.map((offset, b) => ({
		b, offset, insns: f.insns[b], class: f.indirect ? null : f.class[b] + 1,
		state: f.classes.state[f.class[b]] || "sampled", ...blockOf(b)
	}));
}

const FIGURES = () => {
	const insns = judged.of.reduce((all, x, i) => all + (x.known ? x.executions * insnsOf(i) : 0), 0);
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
};
function insnsOf(i) {
	const f = causes.functions.findLast(x => x.first <= i);
	return f.insns[i - f.first];
}

function drawBars(pen, w) {
	const left = Math.min(150, w * 0.36), right = 96, room = w - left - right, x = v => left + Math.max(0, Math.min(1, v)) * room;
	rows.forEach((r, i) => {
		const y = i * ROW, from = x(r.low), to = x(r.high);
		pen.text(0, y + ROW / 2, r.name, { size: 12, most: left - 8 });
		pen.rect(
			left,
			y + 4,
			from - left,
			ROW - 8,
			r.key === "execution"
				? pen.theme.accent
				: r.key === "not_analyzed" || r.key === "unexplained"
					? pen.theme.quiet
					: pen.theme.hot,
			{ opacity: 0.85 }
		);
		if (to - from > 0.5) pen.rect(from, y + 4, to - from, ROW - 8, pen.theme.hot, { opacity: 0.3 });
		pen.line(to, y + 4, to, y + ROW - 4, pen.theme.ink);
		pen.text(w, y + ROW / 2, range(r.low, r.high), { size: 12, align: "right" });
	});
	if (!rows.length) pen.text(w / 2, 14, "No samples pass the filters.", { align: "center", fill: pen.theme.quiet });
}
const summaryTable = () => ({
	columns: [
		{ key: "low", title: "at least", type: "share", value: r => r.low },
		{ key: "high", title: "at most", type: "share", value: r => r.high },
		{ key: "name", title: "cause", type: "text", value: r => r.name },
		{ key: "by", title: "known by", type: "text", value: r => r.by }
	],
	rows
});

const functionTable = () => ({
	name: "functions-with-blocks",
	rows: functionRows,
	tools: true,
	sort: "share",
	click: r => choose(r.i),
	chosen: r => r.i === chosen(),
	columns: [
		{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
		{ key: "samples", title: "samples", type: "count", value: r => r.samples },
		...(judged.stalls
			? [
					{
						key: "stalled", title: "stalled", type: "share",
						value: r => (r.loss.cycles > 0 ? r.loss.stall / r.loss.cycles : null)
					}
				]
			: []),
		{ key: "name", title: "function", type: "text", value: r => (r.f.image ? `${r.f.name}  ${r.f.image}` : r.f.name) },
		...(judged.stalls
			? [{ key: "causes", title: "causes, of the function", type: "text", narrow: true, value: r => namesOf(r.loss) }]
			: [])
	]
});

function blockTable() {
	const { unit, stalls, measured } = judged, per = b => (b.executions > 0 ? b.cycles / b.executions : null), time = unit === "ns";
	return {
		name: "blocks",
		rows: blockRows,
		tools: true,
		most: 60,
		sort: "",
		click: b => choose(chosen(), b.b),
		chosen: b => b.b === chosenBlock(),
		columns: [
			{ key: "share", title: "share", type: "share", value: b => b.measure / (measured || 1), bar: true },
			{ key: "samples", title: "samples", type: "count", value: b => b.samples },
			{ key: "offset", title: "block", type: "text", value: b => `+${b.offset.toString(16)}` },
			{ key: "instructions", title: "insns", type: "count", value: b => b.insns },
			...(blockRows.some(b => b.class !== null)
				? [{ key: "class", title: "class", type: "count", value: b => b.class }]
				: []),
			...(blockRows.some(b => b.executions !== null)
				? [
						{ key: "executions", title: "executions", type: "count", value: b => b.executions },
						{
							key: "executions_state", title: "by", type: "text",
							narrow: true,
							value: b => (b.executions === null ? "" : b.state)
						},
						{
							key: "per_execution",
							title: `${time ? "time" : unit}/exec`,
							type: time ? "duration" : "number", value: per
						},
						{
							key: "per_instruction",
							title: unit === "cycles" ? "CPI" : `${time ? "time" : unit}/insn`,
							type: time ? "duration" : "number",
							value: b => (b.executions > 0 ? per(b) / b.insns : null)
						}
					]
				: []),
			...(stalls
				? [
						{
							key: "best", title: "best", type: "number",
							value: b => (b.known ? b.best / b.executions / b.insns : null)
						},
						{
							key: "stalled", title: "stalled", type: "share",
							value: b => (b.known ? b.stall / b.cycles : null)
						},
						{
							key: "causes", title: "causes", type: "text",
							narrow: true, value: b => (b.known ? namesOf(b) : "")
						}
					]
				: [])
		]
	};
}

// Returns the lines of a block's box, which are its offset, its heat, and the causes.
function linesOf(b, w) {
	const x = blockRows[b];
	const share = percent(x.measure / (judged.measured || 1));
	const cpi = x.known
		? `  CPI ${short(+(x.cycles / x.executions / x.insns).toPrecision(3))} ` +
			`(best ${short(+(x.best / x.executions / x.insns).toPrecision(2))})`
		: "";
	return [
		`+${x.offset.toString(16)}  ${x.insns} insn${x.insns > 1 ? "s" : ""}` +
			(x.executions !== null && w > 140 ? `  ${short(Math.round(x.executions))}×` : ""),
		`${share}${cpi}`,
		x.known ? namesOf(x) : ""
	].filter(Boolean);
}

function detail() {
	const i = chosen(), b = chosenBlock(), f = causes.functions[i];
	closeButton.hidden = b < 0;
	code.el.hidden = b < 0;
	if (b < 0) {
		detailCard.querySelector("h2").textContent = "Block";
		return detailBox.replaceChildren(
			h("p", { class: "note" }, "Choose a block, in the picture or in the table, for its causes and instructions.")
		);
	}
	const x = blockRows[b];
	const l = page.facts.listings.find(y => y.code === f.code && y.start === f.start);
	const end = f.offset[b + 1] ?? Infinity;
	const at = l ? l.offset.map((o, n) => n).filter(n => l.offset[n] >= f.offset[b] && l.offset[n] < end) : [];
	detailCard.querySelector("h2").textContent = `Block +${f.offset[b].toString(16)} of ${shown(f.name, 60)}`;
	const list = x.known
		? [
				...x.causes.map(c => ({
					name: causeName(c),
					low: x.least[c],
					high: x.most[c],
					by: causes.evidence(judged, c)
				})),
				...(x.causes.length && x.unexplained >= 0.1 * x.stall
					? [{ name: "unexplained", low: x.unexplained, high: x.unexplained, by: "" }]
					: [])
			]
		: [];
	detailBox.replaceChildren(
		h("p", { class: "note" },
			[
				x.executions !== null
					? `${count(x.executions)} executions (${x.state}` +
						`${x.low < x.executions ? `, 95 %: ${short(x.low)}–${short(x.high)}` : ""})`
					: "Its executions are not known",
				x.known
					? `${short(x.cycles)} cycles, of which ${percent(x.stall / x.cycles)} beyond ` +
						(x.simulated ? "the best case" : "the processor's width")
					: ""
			]
				.filter(Boolean)
				.join("; ") +
				"." +
				(x.known && !list.length
					? " It lost less than a tenth of its cycles, or runs an instruction a cycle: no cause is named."
					: "")
		)
	);
	if (list.length)
		detailBox.append(
			tablebox({
				name: "causes-of-the-block",
				rows: list,
				columns: [
					{ key: "low", title: "at least", type: "share", value: r => r.low / x.cycles },
					{ key: "high", title: "at most", type: "share", value: r => r.high / x.cycles, bar: true },
					{ key: "name", title: "cause", type: "text", value: r => r.name },
					{ key: "by", title: "known by", type: "text", narrow: true, value: r => r.by }
				]
			}).el
		);
	code.el.hidden = !at.length;
	code.el.style.height = `${Math.min(20, at.length) * 19 + 4}px`;
	code.set({
		nr: at.length,
		row: n => ({ number: "+" + l.offset[at[n]].toString(16), arrows: l.arrows[at[n]], text: l.text[at[n]], share: 0, part: 0 })
	});
}

function sentences() {
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

// Chooses the operator that all views are of, or all operators.
function operatorSelect() {
	const { state, dimensions } = page, id = dimensions.main, dimension = dimensions.get(id), sums = state.sums(id, null, [id]);
	const keys = sums.order().slice(0, 100), value = state.filters[id]?.values.length === 1 ? String(state.filters[id].values[0]) : "";
	ofSelect.replaceChildren(
		h("option", { value: "" }, `all ${dimension.title}s`),
		...keys.map(k =>
			h("option", { value: String(dimension.values[k]) }, shown(String(dimension.label(dimension.values[k])), 50))
		)
	);
	ofSelect.value = value;
}

export const causesView = {
	id: "causes",
	title: "Causes",
	when: p => Boolean(p.data[0].causes),
	mount(el, p) {
		page = p;
		({ causes } = page.data[0]);
		figures = h("dl", { class: "figures" });
		notes = h("ul");
		ofSelect = h("select", {
			"aria-label": "Of which operator",
			onchange: () =>
				page.state.set(page.dimensions.main, ofSelect.value === "" ? null : { values: [Number(ofSelect.value)] })
		});
		functionSelect = h("select", { "aria-label": "Function", onchange: () => choose(Number(functionSelect.value)) });
		[functionBox, blockBox, detailBox] = [h("div"), h("div"), h("div")];
		bars = chart({
			title: "Where the cycles went",
			name: "where-the-cycles-went",
			controls: [ofSelect],
			height: () => Math.max(1, rows.length) * ROW,
			draw: drawBars,
			tip: (x, y) => {
				const r = rows[Math.floor(y / ROW)];
				return (
					r &&
					[
						r.name,
						`at least ${percent(r.low)}, at most ${percent(r.high)}`,
						r.by && `known by ${r.by}`
					].filter(Boolean)
				);
			},
			table: summaryTable
		});
		graph = blockGraph(page, {
			choose: b => choose(chosen(), b),
			now: () => ({
				f: causes.functions[chosen()],
				blocks: blockRows,
				chosen: chosenBlock(),
				share: b => blockRows[b].measure / (judged.measured || 1),
				lines: linesOf
			})
		});
		graph.el.querySelector("h2").after(functionSelect);
		graph.el.classList.add("seven");
		code = listing("Instructions of the block");
		code.el.classList.add("short");
		closeButton = h("button", { class: "small", onclick: () => choose(chosen()) }, "Close");
		detailCard = h("section", { class: "card five" }, h("header", {}, h("h2", {}, "Block"), closeButton), detailBox, code.el);
		bars.el.classList.add("half");
		functionCard = h("section", { class: "card half" }, h("header", {}, h("h2", {}, "Functions")), functionBox);
		el.append(
			h("section", { class: "card", "aria-label": "Key figures" }, figures, notes),
			bars.el,
			functionCard,
			graph.el,
			detailCard,
			h("section", { class: "card" }, h("header", {}, h("h2", {}, "Blocks of the function")), blockBox)
		);
	},
	draw() {
		operatorSelect();
		compute();
		figures.replaceChildren(...FIGURES().map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
		notes.replaceChildren(...sentences().map(s => h("li", {}, shown(s, 400))));
		bars.el.hidden = !judged.stalls;
		functionCard.classList.toggle("half", judged.stalls);
		bars.draw();
		functionBox.replaceChildren(tablebox(functionTable()).el);
		functionSelect.replaceChildren(
			...(functionRows.length ? functionRows : causes.functions.map((f, i) => ({ f, i }))).map(r =>
				h("option", { value: String(r.i) }, shown(r.f.name, 60))
			)
		);
		functionSelect.value = String(chosen());
		graph.draw();
		blockBox.replaceChildren(tablebox(blockTable()).el);
		detail();
	},
	table: blockTable,
	drawn: () => ({
		stalls: judged.stalls,
		summary: rows.map(r => ({ cause: r.key, at_least: r.low, at_most: r.high, known_by: r.by })),
		functions: functionRows.map(r => ({
			name: r.f.name,
			cycles: r.loss?.cycles ?? null,
			share: r.loss ? r.loss.cycles / judged.all : r.share,
			stalled: r.loss?.cycles > 0 ? r.loss.stall / r.loss.cycles : null,
			causes: r.loss ? namesOf(r.loss) : ""
		})),
		function: causes.functions[chosen()].name,
		blocks: blockRows.map(b => ({
			offset: b.offset,
			share: b.measure / (judged.measured || 1),
			executions: b.executions,
			cycles: b.cycles,
			known: b.known > 0,
			stall: b.stall,
			causes:
				b.known && b.cycles >= NOTEWORTHY * blockRows.reduce((a, x) => a + x.cycles, 0)
					? b.causes.map(c => ({
							cause: page.facts.causes.culprits[c].key,
							at_least: b.least[c] / b.cycles,
							at_most: b.most[c] / b.cycles
						}))
					: []
		})),
		graph: graph.drawn()
	})
};
