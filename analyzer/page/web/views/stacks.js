// SPDX-License-Identifier: MIT
// Call stacks are a flame graph, from the outermost frame or from the innermost one, or the callers and callees of one
// function.  Functions and components of the chosen levels are frames.  Without stacks, each sample's levels and function are its frames.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { tablebox } from "../tablebox.js";
import { FUNCTIONS, framesFromLevels, framesFromStacks } from "../stackframes.js";
import { climb } from "../totals.js";
import { COMPONENT, FUNCTION, fill, layout, order, sandwich, shape } from "../calltree.js";
import { callRows, hottestKey, layoutSides, middlesOf, sideRows } from "../callrows.js";
import { frameChoice, levelName } from "../framechoice.js";
import { frameColour, frameLabel } from "../framelook.js";
import { count, duration, interval, percent } from "../format.js";

const ROW = 18, LEAST = 1, NAMES_MAX = 300, CALLERS_SHOWN = 24;
const ENOUGH = 0.1; // least share of samples with a stack of two frames; below it, levels say more

let page, choice, box, note, heading, picture, table, out, ways, kinds, middles, waits, main;
let sources = null, source = null, tree = null, filled = null, made = "", top = 0, focus = 0, boxes = [], all = 1, failed = "";
let list = null, both = null, bar = 0; // the frames, both trees, and the middle's row, for callers and callees

const direction = () => page.state.option("stacks") ?? "down";
const inverted = () => direction() === "up";
const isBoth = () => direction() === "both";
const sumsOf = except => page.state.sums(source.keys[0], source.keys[1] ?? null, except);
const per = (sums, what) => Float64Array.from({ length: sums.numbers.length / 3 }, (_, i) => sums.numbers[3 * i + what]);

function choose() {
	const { facts } = page, all = Object.keys(page.state.filters);
	source = sources.stacks;
	const sums = source && sumsOf(all), [total] = sums?.total ?? [0];
	let walked = 0;
	for (let i = 0; source && i < source.deep.length; i++) if (source.deep[i] > 1) walked += sums.samples(i);
	sources.best = source && (walked >= ENOUGH * total || !facts.levels.length) ? "stacks" : "levels";
}

// The off-CPU event has waits as samples, whose weights are their time.
const waitEvent = () => page.facts.events.findIndex(e => e.unit === "ns waiting");
const eventNow = () => page.facts.events[page.state.filters.event?.values[0] ?? 0];
const isTime = () => /^ns\b/.test(eventNow()?.unit ?? "");

function make() {
	source = choice.fromStacks() ? sources.stacks : sources.levels;
	const { perProcess, mainLevel } = page.dimensions;
	const way = isBoth() ? `both ${page.state.option("of")}` : inverted();
	const want = `${way} ${choice.fromStacks()} ${choice.frames().join()} ${perProcess}`;
	if (made === want) return;
	main = climb(page.dimensions, mainLevel);
	list = source.frames(choice.frames());
	const everything = per(sumsOf(Object.keys(page.state.filters)), 0);
	tree = shape(list.frames, list.stacks, inverted());
	order(tree, fill(tree, everything).total);
	both = isBoth() ? sandwich(list.frames, list.stacks, ...middle()) : null;
	for (const side of both ? [both.callers, both.callees] : []) order(side, fill(side, everything).total);
	made = want;
	top = focus = 0;
}

// Returns the middle of callers and callees as [key, kind], which at first is the function with the most samples of its own.
function middle() {
	const [kind, key] = String(page.state.option("of") ?? "").split(":").map(Number);
	if (tree.key.some((k, call) => call && k === key && tree.kind[call] === kind)) return [key, kind];
	const functions = choice.frames().includes(FUNCTIONS);
	return [hottestKey(tree, per(sumsOf([]), 0), functions), functions ? FUNCTION : COMPONENT];
}

const label = (call, of = tree) => frameLabel(page, call, of);
const colour = (call, of = tree) => frameColour(page, call, of, { main, flags: key => source.flags(key) });
const levelOf = call => `level:${page.facts.components.level[tree.key[call]]}`;

function layoutNow(width) {
	if (!both) return layout(tree, filled.measure.total, top, width, LEAST).map(b => ({ ...b, of: tree, sums: filled }));
	const sides = layoutSides(both, filled, { width, least: LEAST, callers: CALLERS_SHOWN });
	({ bar } = sides);
	return sides.boxes;
}

function draw(pen, width) {
	boxes = layoutNow(width);
	for (const b of boxes) {
		const y = b.depth * ROW, wide = Math.max(0.6, b.width - (b.width > 3 ? 1 : 0)), component = b.of.kind[b.call] === COMPONENT;
		pen.rect(b.x, y, wide, ROW - 1, colour(b.call, b.of), { opacity: b.around ? 0.5 : component ? 0.5 : 1 });
		if (component) pen.rect(b.x, y, Math.min(4, wide), ROW - 1, colour(b.call, b.of));
		if (both ? b.depth === bar : b.call === focus && b.call) pen.rect(b.x, y, wide, ROW - 1, null, { stroke: pen.theme.ink });
		if (b.width > 24) pen.text(b.x + (component ? 8 : 4), y + ROW / 2, shown(label(b.call, b.of), 120),
			{ size: 11.5, most: b.width - 10, bold: component });
	}
	if (!boxes.length || (!both && boxes.length < 2))
		pen.text(width / 2, ROW * 2, "No samples pass the filters.", { align: "center", fill: pen.theme.quiet });
}

const weighs = measure =>
	isTime() ? [`${duration(measure)} ${page.state.filters.event?.values[0] === waitEvent() ? "of waiting" : ""}`.trim()] : [];

function about(call, of = tree, sums = filled) {
	const share = sums.measure.total[call] / all, self = sums.measure.self[call] / all,
		[low, high] = interval(share, filled.samples.total[0]);
	return [
		label(call, of),
		`${percent(share)} (95 % interval ${percent(low)} – ${percent(high)}), ${count(sums.samples.total[call])} samples`,
		...weighs(sums.measure.total[call]),
		inverted() || (both && of === both.callers) ? null : `self: ${percent(self)}`
	].filter(Boolean);
}

const hit = (x, y) => boxes.find(b => y >= b.depth * ROW && y < (b.depth + 1) * ROW && x >= b.x && x < b.x + b.width);

// Turns to the callers and callees of a box's function or component.
function turnTo(of, call) {
	if (of.key[call] >= 0) page.state.option("of", `${of.kind[call]}:${of.key[call]}`);
}

function zoom(call) {
	top = top === call && call ? Math.max(0, tree.parent[call]) : call;
	focus = call;
	show();
}

function filter(call, more) {
	if (!call) return;
	const id = tree.kind[call] === COMPONENT ? levelOf(call) : "function";
	page.state.toggle(id, tree.key[call], more);
}

// Moves the keyboard to the box around this one, the first in it, or the one beside it.
function move(key) {
	const parent = tree.parent[focus], beside = focus ? tree.children[parent].filter(c => boxes.some(b => b.call === c)) : [];
	const to = { ArrowUp: parent, ArrowDown: tree.children[focus].find(c => boxes.some(b => b.call === c)),
		     ArrowLeft: beside[beside.indexOf(focus) - 1], ArrowRight: beside[beside.indexOf(focus) + 1] }[key];
	if (to !== undefined && to >= 0) focus = to;
}

function key(e) {
	if (both) return false;
	if (e.key === "b" && focus)
		return ((page.state.options.of = `${tree.kind[focus]}:${tree.key[focus]}`), page.state.option("stacks", "both"), true);
	if (/^Arrow/.test(e.key)) move(e.key);
	else if (e.key === "Enter") return zoom(focus), true;
	else if (e.key === "Backspace") return zoom(top ? Math.max(0, tree.parent[top]) : 0), true;
	else if (e.key === "f") return filter(focus, e.shiftKey), true;
	else return false;
	show();
	return true;
}

const rows = () => (both ? sideRows(both, filled) : callRows(tree, filled));
const what = (call, of = tree) =>
	of.kind[call] === COMPONENT ? levelName(page.facts, page.facts.components.level[of.key[call]]) : "function";

const columns = () => [
	{ key: "total", title: inverted() ? "share" : "total", type: "share", value: r => r.total / all, bar: true },
	...(inverted() ? [] : [{ key: "self", title: "self", type: "share", value: r => r.self / all }]),
	...(isTime() ? [{ key: "time", title: "time", type: "duration", value: r => r.total }] : []),
	{
		key: "samples",
		title: page.state.filters.event?.values[0] === waitEvent() ? "waits" : "samples",
		type: "count", value: r => r.samples
	},
	...(both ? [{ key: "side", title: "it is", type: "text", narrow: true, value: r => r.side }] : []),
	{ key: "kind", title: "of", type: "text", narrow: true, value: r => what(r.call, r.of) },
	{ key: "name", title: "name", type: "text", value: r => label(r.call, r.of), colour: r => colour(r.call, r.of) }
];

const HINT =
	"Click a box to see it as wide as the page; Shift+click, or f, to keep only its samples; b for its callers and callees. " +
	"Arrow keys go from box to box.";
const HINT_BOTH = "Callers above, callees below, of all calls of the one in the middle. Click a box, or a row, to put it there.";

function show() {
	picture.draw();
	note.textContent = both ? `${about(0, both.callees, filled.callees).map(line => shown(line, 200)).join(" · ")}. ${HINT_BOTH}` :
		focus && filled.measure.total[focus] > 0 ? about(focus).map(line => shown(line, 200)).join(" · ") : HINT;
	out.hidden = !top;
}

// Lists what can stand in the middle.
function drawMiddles() {
	middles.hidden = !both;
	if (!both) return;
	const now = `${both.callees.kind[0]}:${both.callees.key[0]}`;
	const list = middlesOf(tree, filled.measure.total, now, NAMES_MAX);
	middles.replaceChildren(...list.map(([id, call]) => h("option", { value: id }, shown(label(call), 60))));
	middles.value = now;
}

function select(name, option, choices) {
	const el = h("select", { "aria-label": name, onchange: () => page.state.option(option, el.value) },
		Object.entries(choices).map(([value, text]) => h("option", { value }, text)));
	return el;
}

async function load() {
	const { table: samples, facts } = page.data[0];
	try {
		sources = {
			stacks: facts.columns.stack ? await framesFromStacks(samples, page.dimensions) : null,
			levels: framesFromLevels(page)
		};
	} catch (error) {
		failed = error.message;
	}
	page.state.changed(false);
}

export const stacks = {
	id: "stacks",
	title: "Stacks",
	mount(el, p) {
		page = p;
		choice = frameChoice(page, () => sources);
		box = el;
		kinds = h("span", { class: "hint", role: "group", "aria-label": "Frames" });
		ways = select("Direction", "stacks", { down: "top-down", up: "bottom-up", both: "callers and callees" });
		middles = select("Callers and callees of", "of", {});
		waits = h("button", {
			class: "small",
			hidden: waitEvent() < 0,
			title: "Stacks of threads that wait, by the time that they waited",
			onclick: () =>
				page.state.set("event", {
					values: [
						page.state.filters.event?.values[0] === waitEvent() ? page.facts.event : waitEvent()
					]
				})
		}, "waits");
		out = h("button", { class: "small", hidden: true, onclick: () => zoom(0) }, "Zoom out");
		note = h("p", { class: "note", "aria-live": "polite" }, "Reading the stacks…");
		table = h("div");
		heading = h("h2");
		picture = chart({
			title: "Flame graph",
			name: "flame-graph",
			controls: [ways, middles, kinds, waits, out],
			key,
			height: width => ROW * (1 + layoutNow(width).reduce((most, b) => Math.max(most, b.depth + 1), 2)),
			draw,
			tip: (x, y) => (hit(x, y) ? about(hit(x, y).call, hit(x, y).of, hit(x, y).sums) : null),
			click: (x, y, e) => {
				const b = hit(x, y);
				if (b && both) turnTo(b.of, b.call);
				else if (b) e.shiftKey ? filter(b.call, true) : zoom(b.call);
			},
			// With callers and callees, the keyboard goes through spots.  A single tree has keys of its own.
			get spots() {
				return both ? () => boxes.map(b => ({ x: b.x, y: b.depth * ROW, w: b.width, h: ROW - 1 })) : undefined;
			},
			table: () => ({ columns: columns(), rows: rows(), sort: "total" })
		});
		el.append(note);
		this.ready = load();
	},
	draw() {
		if (failed) note.textContent = `The stacks cannot be shown: ${failed}`;
		if (!sources) return;
		if (!sources.best) choose();
		if (!picture.el.isConnected) {
			box.replaceChildren(picture.el, h("section", { class: "card" }, h("header", {}, heading), table));
			picture.el.append(note);
			if (sources.best === "levels" && sources.stacks) picture.el.append(h("p", { class: "note" },
				"Hardly any sample of this trace has a call stack: boxes are levels, from above, and functions."));
		}
		make();
		ways.value = direction();
		choice.drawButtons(kinds);
		waits.setAttribute("aria-pressed", String(page.state.filters.event?.values[0] === waitEvent()));
		const sums = sumsOf([]), nr = per(sums, 0), weight = sums.total[1] > 0 ? per(sums, 1) : nr;
		const fillOf = of => ({ samples: fill(of, nr), measure: fill(of, weight) });
		filled = fillOf(tree);
		if (both) Object.assign(filled, { callers: fillOf(both.callers), callees: fillOf(both.callees) });
		all = filled.measure.total[0] || 1;
		heading.textContent = both ? "Callers and callees" : "Self and total";
		drawMiddles();
		show();
		table.replaceChildren(tablebox({ name: "calls", columns: columns(), rows: rows(), sort: "total", most: 60, tools: true,
			chosen: r => !both && page.state.filters[tree.kind[r.call] === COMPONENT ? levelOf(r.call) :
				"function"]?.values.includes(tree.key[r.call]),
			click: (r, e) => (both ? turnTo(r.of, r.call) : filter(r.call, e.shiftKey)) }).el);
	},
	drawn() {
		return {
			direction: direction(),
			frames: choice.frames().map(id => (id === FUNCTIONS ? "function" : page.facts.levels[Number(id)].name)),
			stacks: choice.fromStacks(),
			samples: filled?.samples.total[0] ?? 0,
			...(both && {
				middle: label(0, both.callees),
				rows: rows().map(({ side, call, of, total, samples }) => ({ side, name: label(call, of), total, samples }))
			}),
			boxes: boxes.map(b => ({
				name: label(b.call, b.of),
				depth: b.depth,
				share: b.sums.measure.total[b.call] / all,
				samples: b.sums.samples.total[b.call]
			}))
		};
	},
};
