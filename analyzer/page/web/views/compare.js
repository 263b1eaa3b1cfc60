// SPDX-License-Identifier: MIT
// The view of two traces has changes with the intervals that their differences are in, and lanes and plans of both traces.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { changes, inSecond } from "../changes.js";
import { drawLane, drawLegend, drawTime, endOf, BOTTOM, partKey, partsOf, stack } from "../activity.js";
import { planChart } from "../plan.js";
import { formulaOf, tablebox } from "../tablebox.js";
import { bothCode } from "../bothcode.js";
import { countedAs, countsOf } from "../counts.js";
import { count, duration, measure, percent, seconds, short } from "../format.js";

const ROW = 22, ROWS = 14, LEGEND = 20, LANE = 90, NAME = 210, PALETTE = 12;

let page, sides, by, figures, said, bars, mirror, plans = [], table, code;
let rows = [], lanes = [], parts = [], both = [null, null], named = new Map(), inPlan = [new Map(), new Map()], bins = 100, end = 1;

const unit = () => page.facts.events[page.state.filters.event?.values[0] ?? 0]?.unit;
const base = path => shown(path.slice(path.lastIndexOf("/") + 1), 40);
const signed = (v, digits = 1) => (v === Infinity ? "only in the second" : v === -1 ? "only in the first" : !Number.isFinite(v) ? "–" :
	`${v > 0 ? "+" : v < 0 ? "−" : "±"}${percent(Math.abs(v), digits)}`);
const brief = (v, digits) => (v === Infinity ? "new" : v === -1 ? "gone" : signed(v, digits)); // the short form, for narrow places
const verdict = r => (r.certain ? "yes" : r.tested ? "no" : "too small");
const choices = () => [...page.facts.levels.map((_, i) => `level:${i}`), "function", "line",
	"image"].filter(id => inSecond(sides, id));

const chosen = () => (choices().includes(page.state.option("compare")) ? page.state.option("compare") :
	choices().includes(page.dimensions.main) ? page.dimensions.main : choices()[0]);

function compare() {
	({ sides: both, rows } = changes(page, chosen()));
}

// Joins "159 ms" and "160 ms" to "159 → 160 ms".
function pair(a, b) {
	const [number, unit] = a.split(" ");
	return unit && b.endsWith(` ${unit}`) ? `${number} → ${b}` : `${a} → ${b}`;
}

// Returns the values of a dimension that have a colour.  Components of a level have one also without samples.
function valuesOf({ dimensions, facts }, id) {
	if (!id?.startsWith("level:")) return dimensions.get(id)?.values ?? [];
	return [0, ...[...facts.components.level.keys()].filter(c => c && facts.components.level[c] === Number(id.slice(6)))];
}

// Colours go by names and are those of the first trace.  Names of the second trace alone get the colours that follow.
function colourAs(id, label) {
	const { dimensions, colours } = page, first = dimensions.get(id), other = sides[1].dimensions.get(inSecond(sides, id));
	if (!named.has(id)) {
		const of = new Map([...valuesOf(page, id), ...first.values].map(v => [String(first.label(v)), v]));
		let next = first.values.filter(v => v).length;
		for (const v of valuesOf(sides[1], inSecond(sides, id))) {
			while (first.at.get(next) !== undefined) next += PALETTE; // The number is none of the first trace.
			if (!of.has(String(other.label(v)))) of.set(String(other.label(v)), next++);
		}
		named.set(id, of);
	}
	return colours.of(id, named.get(id).get(label) ?? 0);
}

// Returns a row's title. If several rows have one name, the detail tells them apart.
const titleOf = r => (r.detail && rows.some(o => o !== r && o.name === r.name) ? `${r.name} (${r.detail})` : r.name);

// A row's bar ends at its growth as a part of the first trace's total.  The margin of its change is the error of that end.
const half = r => (Number.isFinite(r.change) && r.change && Number.isFinite(r.margin) ? Math.abs(r.growth / r.change) * r.margin : 0);

function drawBars(pen, w) {
	const narrow = w < 500;
	const list = rows.slice(0, ROWS);
	const left = Math.min(NAME, w * 0.36);
	const right = narrow ? 66 : 150;
	const middle = left + (w - left - right) / 2;
	const room = (w - left - right) / 2 - 8;
	// Small lines have wide margins, so those of uncertain changes do not count.
	const most = Math.max(1e-12, ...list.map(r => Math.abs(r.growth) + (r.certain ? half(r) : 0)));
	const x = v => middle + Math.max(-1, Math.min(1, v / most)) * room;
	pen.line(middle, 0, middle, list.length * ROW, pen.theme.quiet);
	list.forEach((r, i) => {
		const y = i * ROW;
		const from = Math.min(x(0), x(r.growth));
		const wide = Math.abs(x(r.growth) - x(0));
		const ends = [r.growth - half(r), r.growth + half(r)];
		pen.rect(0, y + 6, 9, 9, colourAs(chosen(), r.name));
		pen.text(15, y + ROW / 2, shown(titleOf(r), 80), {
			size: 12, most: left - 22, fill: r.certain ? undefined : pen.theme.quiet
		});
		pen.rect(from, y + 4, Math.max(1, wide), ROW - 8, r.growth > 0 ? pen.theme.hot : pen.theme.accent,
			{ opacity: r.certain ? 0.85 : 0.25 });
		pen.line(x(ends[0]), y + ROW / 2, x(ends[1]), y + ROW / 2, pen.theme.ink, 1.2);
		for (const v of ends) pen.line(x(v), y + ROW / 2 - 3, x(v), y + ROW / 2 + 3, pen.theme.ink, 1.2);
		pen.text(
			w,
			y + ROW / 2,
			(narrow ? brief : signed)(r.change) +
				(narrow || r.change === -1 || r.change === Infinity || !Number.isFinite(r.margin)
					? ""
					: ` ± ${percent(r.margin)}`),
			{ size: 11.5, align: "right", most: right - 6, bold: r.certain, fill: r.certain ? undefined : pen.theme.quiet }
		);
	});
	if (!list.length) pen.text(w / 2, 20, "No samples pass the filters.", { align: "center", fill: pen.theme.quiet });
}

const tipBar = (x, y) => {
	const r = rows.slice(0, ROWS)[Math.floor(y / ROW)];
	return r && [r.second === undefined ? r.name : `${r.name} → ${r.second}`, r.detail,
		`first: ${percent(r.a.share, 2)}, ${measure(r.a.measure, unit())}, ${count(r.a.samples)} samples`,
		`second: ${percent(r.b.share, 2)}, ${measure(r.b.measure, unit())}, ${count(r.b.samples)} samples`,
		r.tested ? `cost ${signed(r.change)}; the smallest significant change: ${percent(r.margin)}` : "too small to be tested",
		r.certain ? "significant (95 %, all lines together)" : "not significant"].filter(Boolean);
};

function drawMirror(pen, w) {
	bins = Math.max(10, Math.min(400, Math.floor(w / 3)));
	parts = [0, 1].map(trace => partsOf(page, trace));
	for (const part of parts.flat()) if (part.value !== null) part.colour = () =>
		colourAs(page.dimensions.main, String(part.label)); // Parts of equal names have equal colours.
	lanes = parts.map((list, trace) => {
		const cube = page.state.sums(partKey(page, list, trace), { column: "time", from: 0, to: end, bins }, ["time"], trace);
		return stack(list, bins, (p, b) => cube.measure(p, b));
	});
	const most = Math.max(lanes[0].most, lanes[1].most);
	drawLegend(pen, parts.flat().filter((p, i, all) => all.findIndex(q => q.label === p.label) === i),
		{ x: 0, y: LEGEND / 2, width: w });
	lanes.forEach((lane, i) => {
		drawLane(pen, lane, parts[i], { x: 0, y: LEGEND + i * (LANE + BOTTOM), width: w, height: LANE, most, down: i === 1 });
		const y = i ? LEGEND + 2 * LANE + BOTTOM - 9 : LEGEND + 9, text = i ? "second" : "first", wide = pen.width(text) + 10;
		pen.rect(w - wide, y - 9, wide, 18, pen.theme.card, { opacity: 0.85 });
		pen.text(w - 4, y, text, { align: "right", bold: true });
	});
	drawTime(pen, { x: 0, y: LEGEND + LANE, width: w, end });
}

// Returns columns of executions, where both hosts count, for formulas of growth such as "executions_b - 2 * executions_a".
function executionColumns() {
	const counts = [0, 1].map(trace => countsOf(page, trace));
	if (!counts.every(c => c?.nrKnown)) return [];
	const of = (r, s) =>
		r.values[s] === undefined ? null : (counts[s].executions(countedAs(page, chosen(), r.values[s], s))?.count ?? null);
	return rows.some(r => of(r, 0) !== null || of(r, 1) !== null)
		? [
				{ key: "executions_a", title: "executions", type: "count", value: r => of(r, 0) },
				{ key: "executions_b", title: "executions, second", type: "count", value: r => of(r, 1) },
				{
					key: "executions_ratio", title: "times as often", type: "number",
					value: r => (of(r, 0) > 0 && of(r, 1) !== null ? of(r, 1) / of(r, 0) : null)
				}
			]
		: [];
}

// Returns formulas of executions beyond those that more work explains, where commands differ in one number alone, as `queens 5` and `queens
// 6`.
function growthFormulas() {
	const [first, second] = page.data.map(d => d.facts.command.split(/\s+/));
	const apart = first.map((word, i) => [word, second[i]]).filter(([a, b]) => a !== b);
	const [a, b] = apart[0] ?? [], number = text => /^\d+(\.\d+)?$/.test(text ?? "") && Number(text) > 0;
	return first.length !== second.length || apart.length !== 1 || !number(a) || !number(b) ? [] :
		[[`executions_b - ${b}/${a} * executions_a`, `executions beyond ${b}/${a} of the first`]];
}

const COLUMNS = () => [
	{ key: "change", title: "change of cost", type: "points", value: r => r.change },
	{ key: "margin", title: "± (95 %)", type: "points", value: r => r.margin },
	{ key: "certain", title: "significant", type: "text", narrow: true, value: verdict },
	{ key: "growth", title: "of the total", type: "points", value: r => r.growth },
	{ key: "a", title: "first", type: "share", value: r => r.a.share, bar: true },
	{ key: "b", title: "second", type: "share", value: r => r.b.share, bar: true },
	{ key: "na", title: "samples", type: "count", value: r => r.a.samples },
	{ key: "nb", title: "samples", type: "count", value: r => r.b.samples },
	...executionColumns(),
	{ key: "ratio", title: "second / first", type: "number", value: r => r.ratio },
	{
		key: "name", title: page.dimensions.get(chosen()).title, type: "text", value: r => r.name,
		colour: r => colourAs(chosen(), r.name)
	},
	...(rows.some(r => r.detail) ? [{ key: "detail", title: "detail", type: "text", value: r => r.detail }] : []),
	...(rows.some(r => r.second !== undefined)
		? [{ key: "second", title: "in the second", type: "text", value: r => r.second ?? "" }]
		: [])
];

// Returns an operator's change as a text that is as short as a box of the plan is wide.
const beside = trace => (component, narrow) => {
	const r = inPlan[trace].get(component);
	const sign = () => (!r.certain ? "≈" : r.growth > 0 ? "▲" : "▼");
	return r?.tested ? `${sign()} ${(narrow ? brief : signed)(r.change, 0)}` : r && "≈ too small";
};

function comparePlans() {
	const { main } = page.dimensions, list = plans.some(Boolean) && inSecond(sides, main) ? changes(page, main).rows : [];
	inPlan = [0, 1].map(s => new Map(list.filter(r => r.values[s] !== undefined).map(r => [r.values[s], r])));
}

// planChart() takes a page of one trace.  Colours go by names, so that both plans have the same ones.  The second trace gets a page in
// which it takes the place of the first.
const coloured = side => ({ of: (id, v) => colourAs(page.dimensions.main, String(side.dimensions.get(id)?.label(v))) });
const first = () => ({ ...page, colours: coloured(sides[0]) });
function second() {
	const { state } = page, own = Object.create(state), other = sides[1];
	own.sums = (a, b, except) => state.sums(a, b, except, 1);
	own.toggle = () => {};
	Object.defineProperty(own, "filters", { value: {} });
	return { ...page, state: own, facts: other.facts, dimensions: other.dimensions, colours: coloured(other) };
}

export const compareView = {
	id: "compare",
	title: "Compare",
	when: p => p.data.length > 1,
	mount(el, p) {
		page = p;
		sides = page.data;
		end = Math.max(...sides.map(s => endOf(s.facts)));
		by = h("select", { "aria-label": "Compare by", onchange: () => page.state.option("compare", by.value) },
			choices().map(id => h("option", { value: id }, page.dimensions.get(id).title)));
		figures = h("dl", { class: "figures pairs" });
		said = h("p", { class: "note" });
		table = h("div");
		bars = chart({ title: "Differences, second against first", name: "differences", controls: [by],
			height: () => Math.max(2, Math.min(ROWS, rows.length)) * ROW, draw: drawBars, tip: tipBar,
			table: () => ({ columns: COLUMNS(), rows }) });
		mirror = chart({ title: "Both over time", name: "both-over-time", height: LEGEND + 2 * LANE + BOTTOM, draw: drawMirror,
			tip: x => [seconds(x / mirror.canvas.clientWidth * end, end / 1000)],
				table: () => ({ rows: Array.from({ length: bins }, (_, b) => b),
				columns: [{ key: "t", title: "from (s)", type: "number", value: b => b / bins * end / 1e6 },
					{ key: "a", title: "first", type: "short", value: b => lanes[0].all[b] },
					{ key: "b", title: "second", type: "short", value: b => lanes[1].all[b] }] }) });
		plans = sides.map((s, i) => (s.facts.plans.length ? planChart(i ? second() : first(), { beside: beside(i) }) :
			null));
		plans.forEach((plan, i) => {
			plan?.el.classList.add("half");
			plan?.el.querySelector("h2").replaceChildren(i ? "Plan of the second" : "Plan of the first");
			plan?.el.append(
				h("p", { class: "note" }, "▲ ▼: the significant change of an operator's cost; ≈: not significant.")
			);
		});
		el.append(h("section", { class: "card", "aria-label": "Both traces" }, figures, said), bars.el, mirror.el,
			...plans.filter(Boolean).map(plan => plan.el),
			h("section", { class: "card" }, h("header", {}, h("h2", {}, "All differences")), table));
		const value = () => formulaOf("differences", COLUMNS());
		code = sides.every(s => s.facts.sources.length)
			? bothCode(page, { rows: () => rows, formula: () => (value() ? { id: chosen(), value: value() } : null) })
			: null;
		if (code) el.append(code.el);
		this.parts = { code };
	},
	draw() {
		compare();
		comparePlans();
		by.value = chosen();
		const facts = sides.map(s => s.facts), event = page.facts.events[page.state.filters.event?.values[0] ?? 0];
		figures.replaceChildren(
			...[
				["first", base(facts[0].trace)],
				["second", base(facts[1].trace)],
				["time range", pair(...facts.map(f => duration(f.last_ns - f.first_ns)))],
				["samples", both.map(b => short(b.samples)).join(" → ")],
				[
					event?.name ?? "weight",
					event?.unit === "ns"
						? pair(...both.map(b => measure(b.all, "ns")))
						: both.map(b => short(b.all)).join(" → ")
				],
				["second / first", (both[1].all / both[0].all).toFixed(3)],
				["significant", `${rows.filter(r => r.certain).length} of ${rows.filter(r => r.tested).length}`]
			].map(([name, text]) => h("div", {}, h("dt", {}, shown(name, 30)), h("dd", { title: text }, text)))
		);
		said.textContent =
			`The judge is that of tailor diff${both[0].inRun ? ", of samples in the run phase" : ""}: ` +
			"change of cost is that of a line relative to the lines that did not change, " +
			"± its smallest significant change (95 % for all tested lines together; one trace a side).";
		for (const part of [bars, mirror, ...plans]) part?.draw();
		table.replaceChildren(
			tablebox({
				name: "differences",
				columns: COLUMNS(),
				rows,
				tools: true,
				formulas: growthFormulas(),
				changed: () => code?.draw()
			}).el
		);
		code?.draw();
	},
	table: () => ({ columns: COLUMNS(), rows }),
	drawn() {
		return {
			by: page.dimensions.get(chosen()).title,
			inRun: Boolean(both[0]?.inRun),
			rows: rows.map(({ name, second, a, b, change, margin, growth, tested, certain }) => ({
				name, ...(second === undefined ? {} : { second }), first: a.share,
				second_share: b.share, change, margin, growth, tested, certain
			}))
		};
	},
};
