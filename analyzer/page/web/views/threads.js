// SPDX-License-Identifier: MIT
// Threads are shown beside each other over time, with a table of how evenly work is spread over them.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { brush } from "../brush.js";
import { BOTTOM, chooseTime, drawLane, drawLegend, drawRange, drawTime, endOf, partKey, partsOf, stack, timeKey } from "../activity.js";
import { tablebox } from "../tablebox.js";
import { count, percent, seconds } from "../format.js";

const LEGEND = 20, LANES_MAX = 64, GAP = 3, bins = 240, KEYS_MAX = 256;

let page, mode, picture, table, skews, note;
let lanes = [], parts = [], all, end = 1, left = 120, width = 640, laneHeight = 20, hidden = 0, last = [], now = null;

const relative = () => page.state.option("lanes") === "relative";
const name = key => page.dimensions.get("thread").label(page.dimensions.get("thread").values[key]);

// Returns the threads with samples, at most KEYS_MAX, the largest first, and their sums by part and span of time under all filters but
// those of `without`.
function cubeOf(without) {
	const { state, dimensions } = page, thread = dimensions.get("thread");
	const known = state.sums("thread", null, without).order(), place = new Uint32Array(thread.nr).fill(known.length);
	known.forEach((key, i) => { place[key] = i; });
	const nr = Math.min(known.length, KEYS_MAX), lane = { column: "thread", map: place, nr, once: true };
	const cube = state.cube(lane, partKey(page, parts), { column: "time", from: 0, to: end, bins }, without);
	return { keys: known.slice(0, nr), measure: cube.measure.bind(cube) };
}

function sum() {
	const { state } = page, { time } = state.filters;
	parts = partsOf(page, 0, ["time", "thread"]);
	all = state.sums("thread", null, ["thread"]);
	now = cubeOf(["thread"]);
	const always = time ? cubeOf(["time", "thread"]) : now;
	hidden = Math.max(0, state.sums("thread", null, ["time", "thread"]).order().length - LANES_MAX);
	lanes = always.keys.slice(0, LANES_MAX).map((key, i) => ({ key, ...stack(parts, bins, (p, b) => always.measure(i, p, b)) }));
	laneHeight = Math.max(12, Math.min(44, Math.floor(520 / Math.max(1, lanes.length))));
}

const heightOf = () => LEGEND + Math.max(1, lanes.length) * (laneHeight + GAP) + BOTTOM;
const top = i => LEGEND + i * (laneHeight + GAP);
const time = x => Math.max(0, Math.min(end, (x - left) / (width - left) * end));

function draw(pen, w) {
	width = w;
	left = w < 600 ? 78 : 150;
	const chosen = page.state.filters.thread?.values, most = lanes.reduce((a, l) => Math.max(a, l.most), 0);
	drawLegend(pen, parts, { x: left, y: LEGEND / 2, width: w - left });
	lanes.forEach((lane, i) => {
		const value = page.dimensions.get("thread").values[lane.key], off = chosen && !chosen.includes(value);
		drawLane(pen, lane, parts, { x: left, y: top(i), width: w - left, height: laneHeight, most, relative: relative(),
			opacity: off ? 0.25 : 1 });
		pen.line(left, top(i) + laneHeight + 0.5, w, top(i) + laneHeight + 0.5, pen.theme.line);
		pen.text(0, top(i) + laneHeight / 2, shown(name(lane.key), 60),
			{ size: 11.5, most: left - 8, bold: chosen?.includes(value), fill: off ? pen.theme.quiet : undefined });
	});
	drawTime(pen, { x: left, y: heightOf() - BOTTOM, width: w - left, end });
	drawRange(pen, page.state.filters.time, { x: left, y: LEGEND, width: w - left, height: heightOf() - BOTTOM - LEGEND, end });
	if (!lanes.length) pen.text(w / 2, LEGEND + 10, "No samples pass the filters.", { align: "center", fill: pen.theme.quiet });
}

function tip(x, y) {
	const lane = lanes[Math.floor((y - LEGEND) / (laneHeight + GAP))];
	if (!lane || y < LEGEND) return null;
	const b = Math.min(bins - 1, Math.floor(time(x) / end * bins));
	const lines = [name(lane.key), `${count(all.samples(lane.key))} samples, ${percent(all.measure(lane.key) / all.totalMeasure)}`];
	if (x < left) return lines;
	lines.push(`${seconds(b / bins * end, end / bins)} – ${seconds((b + 1) / bins * end, end / bins)}`);
	parts.map((part, p) => [part, lane.of[p][b]]).filter(([, v]) => v > 0).sort((p, q) => q[1] - p[1]).slice(0, 5)
		.forEach(([part, v]) => lines.push(`${percent(v / lane.all[b])}  ${shown(part.label, 60)}`));
	return lines;
}

function click(x, y, e) {
	const lane = lanes[Math.floor((y - LEGEND) / (laneHeight + GAP))];
	if (lane && y >= LEGEND) page.state.toggle("thread", page.dimensions.get("thread").values[lane.key], e.shiftKey);
}

// Returns the busiest thread's part divided by the mean of the threads that did any of it. 1 is even.
function skewOf(measures) {
	const busy = measures.filter(m => m > 0), sum = busy.reduce((a, b) => a + b, 0);
	return { threads: busy.length, skew: busy.length ? Math.max(...busy) * busy.length / sum : NaN };
}

// Several processes are told apart by their names as well as by their numbers.
const processName = p => [page.facts.processes.comm[p], page.facts.processes.pid[p]].filter(v => v !== "").join(" ");

function threadRows() {
	const { dimensions, facts } = page, thread = dimensions.get("thread"), at = b => b / bins * end / 1e6;
	const mean = all.totalMeasure / Math.max(1, all.order().length), lane = new Map(now.keys.map((key, i) => [key, i]));
	return all.order().map(key => {
		const i = lane.get(key), value = thread.values[key], row = { value, name: name(key),
			process: processName(facts.threads.process[value]),
			share: all.measure(key) / all.totalMeasure, samples: all.samples(key), mean: all.measure(key) / mean, busiest: "",
				first: NaN, last: NaN };
		if (i === undefined) return { ...row, colour: () => "transparent" };
		const sums = parts.map((_, p) => { let sum = 0; for (let b = 0; b < bins; b++) sum += now.measure(i, p, b); return sum; });
		const any = b => parts.some((_, p) => now.measure(i, p, b) > 0), busiest = sums.indexOf(Math.max(...sums));
		let first = 0, last = bins;
		while (first < bins && !any(first)) first++;
		while (last > first && !any(last - 1)) last--;
		return { ...row, first: at(first), last: at(last), sums, busiest: parts[busiest].label,
			colour: () => parts[busiest].colour() };
	});
}

function skewRows() {
	const list = [], own = new Map(), total = all.totalMeasure || 1;
	for (const row of last) own.set(row.process, [...(own.get(row.process) ?? []),
		all.measure(page.dimensions.get("thread").at.get(row.value))]);
	for (const [name, measures] of own) list.push({ name: `process ${name}`, share: measures.reduce((a, b) => a + b, 0) / total,
		...skewOf(measures) });
	parts.forEach((part, p) => {
		const measures = last.filter(row => row.sums).map(row => row.sums[p]), sum = measures.reduce((a, b) => a + b, 0);
		if (sum > 0 && part.value !== null) list.push({ name: part.label, value: part.value, share: sum / total,
			...skewOf(measures) });
	});
	return list;
}

const COLUMNS = [
	{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
	{ key: "samples", title: "samples", type: "count", value: r => r.samples },
	{ key: "mean", title: "of the mean", type: "number", value: r => r.mean },
	{ key: "first", title: "first (s)", type: "number", value: r => r.first },
	{ key: "last", title: "last (s)", type: "number", value: r => r.last },
	{ key: "process", title: "process", type: "text", narrow: true, value: r => String(r.process) },
	{ key: "name", title: "thread", type: "text", value: r => r.name },
	{ key: "busiest", title: "busiest with", type: "text", value: r => r.busiest, colour: r => r.colour() }];
const SKEW = [
	{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
	{ key: "threads", title: "threads", type: "count", value: r => r.threads },
	{ key: "skew", title: "busiest / mean", type: "number", value: r => r.skew },
	{ key: "name", title: "what", type: "text", value: r => r.name,
		colour: r => (r.value === undefined ? "transparent" : page.colours.of(page.dimensions.main, r.value)) }];

export const threads = {
	id: "threads",
	title: "Threads",
	mount(el, p) {
		page = p;
		end = endOf(page.facts);
		mode = h("select", { "aria-label": "Height of lanes", onchange: () => page.state.option("lanes", mode.value) },
			h("option", { value: "absolute" }, "absolute"), h("option", { value: "relative" }, "relative"));
		note = h("p", { class: "note", hidden: true });
		table = h("div");
		skews = h("div");
		picture = chart({ title: "Threads over time", name: "threads", controls: [mode], draw, tip,
			cursor: x => (x < left ? "pointer" : "crosshair"),
			height: () => heightOf(), key: e => timeKey(page.state, end, e),
			table: () => ({ columns: COLUMNS, rows: last, sort: "share" }) });
		brush(picture, { click, starts: x => x >= left, drag: (from, to, e, done) =>
			chooseTime(page.state, end, time(from[0]), time(to[0]), done) });
		picture.el.append(note);
		const several = page.facts.threads.tid.length > 1; // A single thread is always even.
		el.append(
			picture.el,
			h("section", { class: several ? "card seven" : "card" }, h("header", {}, h("h2", {}, "Threads")), table),
			h("section", { class: "card five", hidden: !several },
				h("header", {}, h("h2", {}, "Skew")),
				h("p", { class: "note" },
					"The busiest thread against the mean of all that took part: " +
						"1 is even, the number of threads is one thread alone."
				),
				skews
			)
		);
	},
	draw() {
		const { state } = page;
		mode.value = relative() ? "relative" : "absolute";
		sum();
		last = threadRows();
		picture.draw();
		note.hidden = !hidden;
		note.textContent = `The ${lanes.length} busiest threads; ${count(hidden)} more are in the table.`;
		table.replaceChildren(tablebox({ name: "threads", columns: COLUMNS, rows: last, sort: "share", tools: true,
			chosen: r => state.filters.thread?.values.includes(r.value),
				click: (r, e) => state.toggle("thread", r.value, e.shiftKey) }).el);
		const { main } = page.dimensions;
		skews.replaceChildren(tablebox({ name: "skew", columns: SKEW, rows: skewRows(), sort: "share", tools: true,
			chosen: r => r.value !== undefined && state.filters[main]?.values.includes(r.value),
			click: (r, e) => r.value !== undefined && state.toggle(main, r.value, e.shiftKey) }).el);
	},
	drawn() {
		return { mode: relative() ? "relative" : "absolute", hidden, parts: parts.map(p => p.label),
			lanes: lanes.map(l => ({ name: name(l.key), measure: l.all.reduce((a, b) => a + b, 0) })),
			threads: last.map(({ name, samples, mean }) => ({ name, samples, mean })) };
	},
};
