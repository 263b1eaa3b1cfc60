// SPDX-License-Identifier: MIT
// The view of where the cycles went has blocks of functions with their executions, best and actual cases, and the
// causes of stalls within bounds.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { tablebox } from "../tablebox.js";
import { listing } from "../listing.js";
import { blockGraph } from "../blockgraph.js";
import { blockLines, causeName, causeNames, range, stallFigures, stallSentences, stallSummary } from "../stalls.js";
import { SUMMARY, blockColumns, functionColumns } from "../stalltables.js";
import { count, percent, short } from "../format.js";

const ROW = 22, NOTEWORTHY = 0.01;

let page, causes, figures, notes, ofSelect, bars, functionBox, functionSelect, functionCard;
let graph, blockBox, detailCard, detailBox, code, closeButton;
let judged, sum, rows = [], functionRows = [], blockRows = [];

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

function compute() {
	judged = causes.judge(page.state);
	sum = causes.sum(judged, 0, causes.nr, judged.kernel);
	rows = stallSummary(page, causes, { judged, sum });
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
const functionTable = () => ({
	name: "functions-with-blocks",
	rows: functionRows,
	tools: true,
	sort: "share",
	click: r => choose(r.i),
	chosen: r => r.i === chosen(),
	columns: functionColumns(page, judged)
});
const blockTable = () => ({
	name: "blocks",
	rows: blockRows,
	tools: true,
	most: 60,
	sort: "",
	click: b => choose(chosen(), b.b),
	chosen: b => b.b === chosenBlock(),
	columns: blockColumns(page, judged, blockRows)
});

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
					name: causeName(page, c),
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
			table: () => ({ columns: SUMMARY, rows })
		});
		graph = blockGraph(page, {
			choose: b => choose(chosen(), b),
			now: () => ({
				f: causes.functions[chosen()],
				blocks: blockRows,
				chosen: chosenBlock(),
				share: b => blockRows[b].measure / (judged.measured || 1),
				lines: (b, w) => blockLines(page, judged, blockRows[b], w)
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
		figures.replaceChildren(
			...stallFigures(causes, { judged, sum }).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))
		);
		notes.replaceChildren(...stallSentences(page, { judged, sum }).map(s => h("li", {}, shown(s, 400))));
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
			causes: r.loss ? causeNames(page, r.loss) : ""
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
