// SPDX-License-Identifier: MIT
// Two events are shown beside each other: over time, one upwards and one downwards, and for each component.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { brush } from "../brush.js";
import { BOTTOM, chooseTime, drawLane, drawLegend, drawRange, drawTime, endOf, partKey, partsOf, stack, timeKey } from "../activity.js";
import { tablebox } from "../tablebox.js";
import { count, measure, percent, seconds, short } from "../format.js";
import { planChart } from "../plan.js";
import { sunburst } from "../sunburst.js";
import { only } from "../hottest.js";
import { Sums } from "../sums.js";

const LEGEND = 20, LANE = 110, MARGIN = 46, DOT = 5;

let page, picks, mode, mirror, scatter, table, plan, rings;
let pair = [0, 1], parts = [], lanes = [], dots = [], rows = [], end = 1, bins = 100, width = 640;

const used = () => page.facts.events.map((_, i) => i).filter(i => page.facts.events[i].name !== "switch");
const eventName = i => shown(page.facts.events[i]?.name ?? "", 40);

function choose() {
	const { state } = page, list = used(), any = state.sums("event", null, Object.keys(state.filters)),
		with_ = list.filter(i => any.samples(i) > 0);
	const option = (key, otherwise) => (list.includes(Number(state.option(key))) ? Number(state.option(key)) : otherwise);
	const a = option("eventA", with_[0] ?? list[0]);
	pair = [a, option("eventB", with_.find(i => i !== a) ?? list.find(i => i !== a) ?? a)];
}

// Returns a key for sums by both events alone, which take the place of the event that other views show.
const both = once => ({ column: "event", map: Uint32Array.from({ length: page.facts.events.length },
	(_, e) => (pair[0] === e ? 0 : pair[1] === e ? 1 : 2)), nr: 2, once });

const relative = () => page.state.option("mirror") === "relative";

// Plan and rings are of the upper event, whichever event other views show.
const above = () => [["event", page.dimensions.get("event").at.get(pair[0])]];
function ask(a, b, except = []) {
	const { state, dimensions } = page, [key] = only(dimensions, above()), open = ["event", ...except];
	return b ? state.cube(key, a, b, open).sums : new Sums(state.sums(key, a, open).numbers, dimensions.get(a));
}
const shareBelow = (component, brief) => {
	const row = rows.find(r => r.value === component);
	return row ? `${percent(row.share[1])} ${brief ? "" : "of "}${eventName(pair[1])}` : "";
};

function sum() {
	const { state } = page;
	bins = Math.max(10, Math.min(400, Math.floor(width / 3)));
	parts = partsOf(page, 0, ["time", "event"]);
	const cube = state.cube(both(true), partKey(page, parts), { column: "time", from: 0, to: end, bins }, ["time", "event"]);
	lanes = [0, 1].map(i => stack(parts, bins, (p, b) => cube.measure(i, p, b)));
}

const time = x => Math.max(0, Math.min(end, x / width * end));

function drawMirror(pen, w) {
	width = w;
	sum();
	drawLegend(pen, parts, { x: 0, y: LEGEND / 2, width: w });
	lanes.forEach((lane, i) => drawLane(pen, lane, parts, { x: 0, y: LEGEND + i * (LANE + BOTTOM), width: w, height: LANE,
		most: lane.most, relative: relative(), down: i === 1 }));
	drawTime(pen, { x: 0, y: LEGEND + LANE, width: w, end });
	drawRange(pen, page.state.filters.time, { x: 0, y: LEGEND, width: w, height: 2 * LANE + BOTTOM, end });
	for (const [i, y] of [[0, LEGEND + 8], [1, LEGEND + 2 * LANE + BOTTOM - 8]]) {
		const wide = pen.width(eventName(pair[i]), 12) + 12;
		pen.rect(2, y - 9, wide, 18, pen.theme.card, { opacity: 0.85 });
		pen.text(8, y, eventName(pair[i]), { bold: true });
	}
}

function tipMirror(x) {
	const b = Math.min(bins - 1, Math.floor(time(x) / end * bins));
	return [`${seconds(b / bins * end, end / bins)} – ${seconds((b + 1) / bins * end, end / bins)}`,
		...[0, 1].flatMap(i => [`${eventName(pair[i])}: ${measure(lanes[i].all[b], page.facts.events[pair[i]].unit)}`,
			...parts.map((part, p) => [part, lanes[i].of[p][b]]).filter(([, v]) => v > 0)
				.sort((p, q) => q[1] - p[1]).slice(0, 3)
				.map(([part, v]) => `   ${percent(v / lanes[i].all[b])}  ${shown(part.label, 60)}`)])];
}

function list() {
	const { state, dimensions } = page, { main } = dimensions, level = dimensions.get(main);
	const sums = state.sums(both(true), main, ["event", main]), totals = [0, 0], out = [];
	for (let k = 0; k < level.nr; k++) [0, 1].forEach(i => { totals[i] += sums.measure(i, k); });
	for (let k = 0; k < level.nr; k++) {
		if (!(sums.samples(0, k) > 0 || sums.samples(1, k) > 0)) continue;
		const of = [0, 1].map(i => sums.measure(i, k)), share = of.map((m, i) => (totals[i] > 0 ? m / totals[i] : 0));
		out.push({
			value: level.values[k],
			name: level.label(level.values[k]),
			of,
			share,
			samples: [sums.samples(0, k), sums.samples(1, k)],
			ratio: of[0] > 0 ? (of[1] / of[0]) * (isTime(0) ? 1e6 : 1) : NaN,
			colour: () => page.colours.of(main, level.values[k])
		});
	}
	return out.sort((a, b) => Math.max(...b.share) - Math.max(...a.share));
}

// Both axes reach to the same share, and show square roots of the events' shares, which keep small shares apart.
function drawScatter(pen, w, hgt) {
	const most = Math.max(0.01, ...rows.flatMap(r => r.share)), top = Math.min(1, most * 1.1), right = w - 22, low = hgt - MARGIN;
	const x = v => MARGIN + Math.sqrt(v / top) * (right - MARGIN), y = v => low - Math.sqrt(v / top) * (low - 8);
	const chosen = page.state.filters[page.dimensions.main]?.values, above = `↑ share of ${eventName(pair[1])}`;
	for (const v of [0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1].filter((v, i, all) => v <= top &&
		(v === 0 || x(v) - x(all[i - 1]) > 34))) {
		pen.line(x(v), 8, x(v), low, pen.theme.line);
		pen.line(MARGIN, y(v), right, y(v), pen.theme.line);
		pen.text(x(v), low + 11, percent(v, v && v < 0.01 ? 1 : 0), { size: 11, align: "center", fill: pen.theme.quiet });
		pen.text(MARGIN - 5, y(v), percent(v, v && v < 0.01 ? 1 : 0), { size: 11, align: "right", fill: pen.theme.quiet });
	}
	pen.line(x(0), y(0), x(top), y(top), pen.theme.quiet, 1, [4, 4]);
	pen.text(right, hgt - 10, `share of ${eventName(pair[0])} →`, { align: "right", size: 11.5, fill: pen.theme.quiet });
	pen.text(MARGIN + 6, 14, above, { size: 11.5, fill: pen.theme.quiet });
	dots = rows.map(r => ({ ...r, x: x(r.share[0]), y: y(r.share[1]) }));
	const taken = [
		...dots.map(d => ({ x: d.x - DOT, y: d.y, w: 2 * DOT, of: d })),
		{ x: MARGIN, y: 14, w: pen.width(above, 11.5) + 6 }
	];
	for (const d of dots) {
		const off = chosen && !chosen.includes(d.value);
		pen.path(`M${d.x - DOT},${d.y}a${DOT},${DOT} 0 1,0 ${2 * DOT},0a${DOT},${DOT} 0 1,0 ${-2 * DOT},0`,
			{ fill: d.colour(), stroke: pen.theme.ink, width: 0.7, opacity: off ? 0.3 : 1 });
		const text = shown(d.name, 40);
		const wide = Math.min(150, pen.width(text, 11.5));
		const middle = Math.max(MARGIN + 4, Math.min(right - wide, d.x - wide / 2));
		const free = ([lx, ly]) => lx > MARGIN && lx + wide <= right + 8 && ly > 6 &&
			!taken.some(t => t.of !== d && Math.abs(t.y - ly) < 13 && lx < t.x + t.w + 6 && lx + wide + 6 > t.x);
		const at = [[d.x + DOT + 4, d.y], [d.x - DOT - 4 - wide, d.y], [middle, d.y - 15]].find(free);
		if (!at) continue;
		taken.push({ x: at[0], y: at[1], w: wide });
		pen.text(...at, text, { size: 11.5, most: 150, fill: off ? pen.theme.quiet : undefined });
	}
	if (!dots.length) pen.text(w / 2, hgt / 2, "No samples pass the filters.", { align: "center", fill: pen.theme.quiet });
}

const hit = (x, y) => dots.map(d => [Math.hypot(d.x - x, d.y - y), d]).filter(([far]) => far < 3 * DOT).sort((a, b) => a[0] - b[0])[0]?.[1];
const tipDot = (x, y) => {
	const d = hit(x, y);
	return (
		d &&
		[
			d.name,
			...[0, 1].map(
				i =>
					`${eventName(pair[i])}: ${percent(d.share[i])}, ` +
					`${measure(d.of[i], page.facts.events[pair[i]].unit)}, ${count(d.samples[i])} samples`
			),
			Number.isFinite(d.ratio) ? `${short(d.ratio)} ${perTitle()}` : null
		].filter(Boolean)
	);
};

// Rates are by millisecond where the event counts nanoseconds.
const isTime = i => page.facts.events[pair[i]]?.unit === "ns";
const perTitle = () => `${eventName(pair[1])}${isTime(1) ? " (ns)" : ""} per ${isTime(0) ? "ms" : eventName(pair[0])}`;

const columns = () => [
	{ key: "a", title: eventName(pair[0]), type: isTime(0) ? "duration" : "short", value: r => r.of[0] },
	{ key: "sa", title: "share", type: "share", value: r => r.share[0], bar: true },
	{ key: "b", title: eventName(pair[1]), type: isTime(1) ? "duration" : "short", value: r => r.of[1] },
	{ key: "sb", title: "share", type: "share", value: r => r.share[1], bar: true },
	{ key: "ratio", title: perTitle(), type: "number", value: r => r.ratio },
	{ key: "name", title: page.dimensions.get(page.dimensions.main).title, type: "text", value: r => r.name, colour: r => r.colour() }];

function select(i) {
	const el = h("select", { "aria-label": i ? "Event below" : "Event above",
		onchange: () => page.state.option(i ? "eventB" : "eventA", el.value) },
		used().map(e => h("option", { value: String(e) }, eventName(e))));
	return el;
}

export const events = {
	id: "events",
	title: "Events",
	when: p => p.facts.events.filter(e => e.name !== "switch").length > 1,
	mount(el, p) {
		page = p;
		end = endOf(page.facts);
		picks = [select(0), select(1)];
		mode = h("select", { "aria-label": "Height of lanes", onchange: () => page.state.option("mirror", mode.value) },
			h("option", { value: "absolute" }, "absolute"), h("option", { value: "relative" }, "relative"));
		table = h("div");
		mirror = chart({
			title: "Two events over time",
			name: "events-over-time",
			controls: [
				picks[0], h("span", { class: "hint" }, "above,"), picks[1],
				h("span", { class: "hint" }, "below;"), mode
			],
			height: LEGEND + 2 * LANE + BOTTOM,
			draw: drawMirror,
			tip: tipMirror,
			cursor: () => "crosshair",
			key: e => timeKey(page.state, end, e),
			table: () => ({
				rows: Array.from({ length: bins }, (_, b) => b),
				columns: [
					{ key: "from", title: "from (s)", type: "number", value: b => ((b / bins) * end) / 1e6 },
					...[0, 1].map(i => ({
						key: `e${i}`,
						title: eventName(pair[i]),
						type: isTime(i) ? "duration" : "short",
						value: b => lanes[i].all[b]
					}))
				]
			})
		});
		brush(mirror, { drag: (from, to, e, done) => chooseTime(page.state, end, time(from[0]), time(to[0]), done),
			click: () => page.state.set("time", null) });
		scatter = chart({
			title: "Shares of both",
			name: "events-scatter",
			height: w => Math.max(240, Math.min(380, w * 0.75)),
			draw: drawScatter,
			tip: tipDot,
			spots: () => dots.map(d => ({ x: d.x - DOT, y: d.y - DOT, w: 2 * DOT, h: 2 * DOT })),
			click: (x, y, e) => hit(x, y) && page.state.toggle(page.dimensions.main, hit(x, y).value, e.shiftKey),
			table: () => ({ columns: columns(), rows })
		});
		scatter.el.classList.add("five");
		const { facts, dimensions } = page, levels = facts.levels.some((_, i) => dimensions.get(`level:${i}`).nr > 1);
		plan = facts.plans.length
			? planChart(page, {
					beside: shareBelow,
					ask: (id, except) => ask(id, null, except),
					also: above,
					without: ["event"]
				})
			: null;
		rings = levels ? sunburst(page, { ask, also: above, except: ["event"] }) : null;
		this.parts = { plan, levels: rings, scatter };
		plan?.el.classList.add(rings ? "two-thirds" : "all");
		rings?.el.classList.add(plan ? "third" : "all");
		el.append(
			mirror.el,
			...[plan, rings].filter(Boolean).map(part => part.el),
			scatter.el,
			h("section", { class: "card seven" }, h("header", {}, h("h2", {}, "Both events by component")), table)
		);
	},
	draw() {
		const { state, dimensions } = page;
		choose();
		picks.forEach((el, i) => { el.value = String(pair[i]); });
		rows = list();
		mode.value = relative() ? "relative" : "absolute";
		for (const part of [mirror, plan, rings, scatter]) part?.draw();
		table.replaceChildren(tablebox({ name: "events", columns: columns(), rows, sort: "sa", tools: true,
			chosen: r => state.filters[dimensions.main]?.values.includes(r.value),
				click: (r, e) => state.toggle(dimensions.main, r.value, e.shiftKey) }).el);
	},
	drawn() {
		return {
			events: pair.map(eventName),
			relative: relative(),
			plan: plan?.drawn(),
			rings: rings?.drawn(),
			lanes: lanes.map(l => l.all.reduce((a, b) => a + b, 0)),
			rows: rows.map(({ name, of, share, samples }) => ({ name, of, share, samples }))
		};
	},
};
