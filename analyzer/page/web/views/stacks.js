// Call stacks as a flame graph, from the outermost frame or from the innermost one, with operators as frames; without stacks, levels and
// functions.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { tablebox } from "../tablebox.js";
import { COMPONENT, FUNCTION, fill, framesOf, layout, order, shape } from "../calltree.js";
import { count, interval, percent } from "../format.js";
import { dark } from "../colours.js";

const ROW = 18, LEAST = 1, PAIRS_MAX = 1 << 20;
const JIT = 1, KERNEL = 2, CUT = 8; // flags of nodes
const SHOWN = { both: of => `${of} and function`, functions: () => "function", components: of => of,
	levels: () => "all levels and function" };
const ENOUGH = 0.1; // of samples with a stack of two frames: fewer, and levels say more

let page, box, note, picture, table, out, ways, kinds, main;
let sources = null, source = null, tree = null, filled = null, made = "", top = 0, focus = 0, boxes = [], all = 1, failed = "";

const inverted = () => page.state.option("stacks") === "up";
// Which of the ways to look there are, and the one that was chosen.
const ways_ = () => Object.keys(SHOWN).filter(key => (key === "levels" ? sources.levels : sources.stacks &&
	(key === "functions" || page.dimensions.mainLevel >= 0)));
const frames = () => (ways_().includes(page.state.option("frames")) ? page.state.option("frames") : sources.best);

// A component of any level as one of the plan's, by the first of its links that lead there.
function climb(facts, level) {
	const { level: levels, links = {} } = facts.components, known = new Map();
	return function at(component) {
		if (!component) return 0;
		if (levels[component] === level) return component;
		if (!known.has(component)) {
			known.set(component, 0); // links that lead in a circle
			known.set(component, (links[component] ?? []).map(at).find(Boolean) ?? 0);
		}
		return known.get(component);
	};
}

async function fromStacks(table_, facts) {
	const nodes = { component: null, function: null, caller: null, flags: null };
	await table_.need("stack");
	for (const field of Object.keys(nodes)) await table_.load(`node-${field}`, facts.nodes);
	for (const field of Object.keys(nodes)) nodes[field] = Array.from(table_.numbers(`node-${field}`) ?? new Uint8Array(facts.nodes));
	const flags = new Map();
	nodes.function.forEach((f, i) => flags.set(f, (flags.get(f) ?? 0) | nodes.flags[i]));
	// Frames of each stack, but for what stands where callers are unknown.
	const deep = new Uint8Array(nodes.caller.length);
	for (let i = 1; i < deep.length; i++) deep[i] = Math.min(2, deep[nodes.caller[i]] + (nodes.flags[i] & CUT ? 0 : 1));
	return {
		keys: ["stack"], flags: f => flags.get(f) ?? 0, deep,
		frames: show => {
			const { frames, of } = framesOf(nodes, main, show);
			return { frames, stacks: of };
		},
	};
}

// Each way (its components, level by level from above) and the function that samples were in.
function fromLevels(facts) {
	const { dimensions } = page, functions = dimensions.get("function"), nrWays = facts.ways.mode.length;
	const levels = facts.levels.map((l, i) => [l.rank, i]).sort((a, b) => a[0] - b[0]).map(([, i]) => i);
	const deep = nrWays * functions.nr <= PAIRS_MAX;
	return {
		keys: deep ? ["way", "function"] : ["way"], flags: f => (facts.functions.generated[f] ? JIT : 0),
		frames: show => {
			const made = { caller: [0], key: [0], kind: [0] }, stacks = [], known = new Map();
			const add = (caller, key, kind) => {
				const id = `${caller} ${key} ${kind}`;
				if (!known.has(id)) {
					made.key.push(key);
					made.kind.push(kind);
					known.set(id, made.caller.push(caller) - 1);
				}
				return known.get(id);
			};
			for (let way = 0; way < nrWays; way++) {
				let at = 0;
				for (const level of show.components ? levels : []) {
					const component = facts.ways.level[level][way];
					if (component) at = add(at, component, COMPONENT);
				}
				for (let key = 0; key < (deep ? functions.nr : 1); key++)
					stacks.push(deep && show.functions &&
						functions.values[key] ? [at, functions.values[key]] : [at, 0]);
			}
			// Pairs that no sample has get no frame.
			const any = page.state.sums(...(deep ? ["way", "function"] : ["way", null]), Object.keys(page.state.filters));
			return { frames: made, stacks: stacks.map(([at, f], i) => (f &&
				any.numbers[3 * i] > 0 ? add(at, f, FUNCTION) : at)) };
		},
	};
}

const sumsOf = except => page.state.sums(source.keys[0], source.keys[1] ?? null, except);
const per = (sums, what) => Float64Array.from({ length: sums.numbers.length / 3 }, (_, i) => sums.numbers[3 * i + what]);

function choose() {
	const { facts } = page, all = Object.keys(page.state.filters);
	source = sources.stacks;
	const sums = source && sumsOf(all), [total] = sums?.total ?? [0];
	let walked = 0;
	for (let i = 0; source && i < source.deep.length; i++) if (source.deep[i] > 1) walked += sums.samples(i);
	sources.best = source && (walked >= ENOUGH * total || !facts.levels.length) ?
		(page.dimensions.mainLevel >= 0 ? "both" : "functions") : "levels";
	kinds.replaceChildren(...ways_().map(value => h("option", { value },
		SHOWN[value](page.dimensions.get(`level:${page.dimensions.mainLevel}`)?.title))));
	kinds.parentElement.hidden = ways_().length < 2;
}

function make() {
	source = frames() === "levels" ? sources.levels : sources.stacks;
	const want = `${inverted()} ${frames()}`;
	if (made === want) return;
	const show = { components: frames() !== "functions", functions: frames() !== "components" }; // of levels: both
	const { frames: list, stacks } = source.frames(show);
	tree = shape(list, stacks, inverted());
	order(tree, fill(tree, per(sumsOf(Object.keys(page.state.filters)), 0)).total);
	made = want;
	top = focus = 0;
}

function label(call) {
	if (!call) return "all";
	const { facts, dimensions } = page, key = tree.key[call];
	return tree.kind[call] === COMPONENT ? dimensions.component(key) : facts.functions.name[key] || "(no name)";
}

const levelOf = call => `level:${page.facts.components.level[tree.key[call]]}`;

function colour(call) {
	const { colours } = page;
	if (!call) return dark() ? "#3a404b" : "#d5dae2";
	if (tree.kind[call] === COMPONENT) {
		const at = main(tree.key[call]);
		return at ? colours.of(page.dimensions.main, at) : dark() ? "#5d6f8c" : "#b4c2d9";
	}
	const flags = source.flags(tree.key[call]);
	if (flags & CUT) return dark() ? "#4b4f57" : "#cfd2d8";
	if (flags & KERNEL) return dark() ? "#41618f" : "#a9c4ea";
	if (flags & JIT) return dark() ? "#3f7350" : "#a5d6b0";
	return dark() ? "#7d5a3c" : "#f1cda6";
}

function draw(pen, width) {
	boxes = layout(tree, filled.measure.total, top, width, LEAST);
	for (const b of boxes) {
		const y = b.depth * ROW, wide = Math.max(0.6, b.width - (b.width > 3 ? 1 : 0)), component = tree.kind[b.call] === COMPONENT;
		pen.rect(b.x, y, wide, ROW - 1, colour(b.call), { opacity: b.around ? 0.5 : component ? 0.5 : 1 });
		if (component) pen.rect(b.x, y, Math.min(4, wide), ROW - 1, colour(b.call));
		if (b.call === focus && b.call) pen.rect(b.x, y, wide, ROW - 1, null, { stroke: pen.theme.ink });
		if (b.width > 24) pen.text(b.x + (component ? 8 : 4), y + ROW / 2, shown(label(b.call), 120),
			{ size: 11.5, most: b.width - 10, bold: component });
	}
	if (boxes.length < 2) pen.text(width / 2, ROW * 2, "No samples pass the filters.", { align: "center", fill: pen.theme.quiet });
}

function about(call) {
	const share = filled.measure.total[call] / all, self = filled.measure.self[call] / all,
		[low, high] = interval(share, filled.samples.total[0]);
	return [label(call), `${percent(share)} (95 % interval ${percent(low)} – ${percent(high)}), ${count(filled.samples.total[call])} samples`,
		inverted() ? null : `self: ${percent(self)}`].filter(Boolean);
}

const hit = (x, y) => boxes.find(b => y >= b.depth * ROW && y < (b.depth + 1) * ROW && x >= b.x && x < b.x + b.width);

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

// To the box around this one, the first in it, or the one beside it.
function move(key) {
	const parent = tree.parent[focus], beside = focus ? tree.children[parent].filter(c => boxes.some(b => b.call === c)) : [];
	const to = { ArrowUp: parent, ArrowDown: tree.children[focus].find(c => boxes.some(b => b.call === c)),
		     ArrowLeft: beside[beside.indexOf(focus) - 1], ArrowRight: beside[beside.indexOf(focus) + 1] }[key];
	if (to !== undefined && to >= 0) focus = to;
}

function key(e) {
	if (/^Arrow/.test(e.key)) move(e.key);
	else if (e.key === "Enter") return zoom(focus), true;
	else if (e.key === "Backspace") return zoom(top ? Math.max(0, tree.parent[top]) : 0), true;
	else if (e.key === "f") return filter(focus, e.shiftKey), true;
	else return false;
	show();
	return true;
}

// One row for what is called by several ways; a call below one of the same is in that one's total already.
function rows() {
	const by = new Map(), on = (call, of) => {
		for (let at = tree.parent[call]; at > 0; at = tree.parent[at]) if (tree.key[at] === tree.key[of] &&
			tree.kind[at] === tree.kind[of]) return true;
		return false;
	};
	for (let call = 1; call < tree.nr; call++) {
		if (!(filled.measure.total[call] > 0)) continue;
		const id = `${tree.kind[call]} ${tree.key[call]}`, row = by.get(id) ?? { call, total: 0, self: 0, samples: 0 };
		row.self += filled.measure.self[call];
		if (!on(call, call)) {
			row.total += filled.measure.total[call];
			row.samples += filled.samples.total[call];
		}
		by.set(id, row);
	}
	return [...by.values()];
}

const what = call => (tree.kind[call] === COMPONENT ? page.dimensions.get(levelOf(call)).title : "function");

const columns = () => [
	{ key: "total", title: inverted() ? "share" : "total", type: "share", value: r => r.total / all, bar: true },
	...(inverted() ? [] : [{ key: "self", title: "self", type: "share", value: r => r.self / all }]),
	{ key: "samples", title: "samples", type: "count", value: r => r.samples },
	{ key: "kind", title: "of", type: "text", narrow: true, value: r => what(r.call) },
	{ key: "name", title: "name", type: "text", value: r => label(r.call), colour: r => colour(r.call) }];

function show() {
	picture.draw();
	note.textContent = focus && filled.measure.total[focus] > 0 ? about(focus).map(line => shown(line, 200)).join(" · ") :
		"Click a box to see it as wide as the page; Shift+click, or f, to keep only its samples. Arrow keys go from box to box.";
	out.hidden = !top;
}

function select(name, option, choices) {
	const el = h("select", { "aria-label": name, onchange: () => page.state.option(option, el.value) },
		Object.entries(choices).map(([value, text]) => h("option", { value }, text)));
	return el;
}

async function load() {
	const { table: samples, facts } = page.data[0];
	main = climb(facts, page.dimensions.mainLevel);
	try {
		sources = { stacks: facts.columns.stack ? await fromStacks(samples, facts) : null, levels: fromLevels(facts) };
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
		box = el;
		kinds = select("Frames", "frames", {});
		ways = select("Direction", "stacks", { down: "top-down", up: "bottom-up" });
		out = h("button", { class: "small", hidden: true, onclick: () => zoom(0) }, "Zoom out");
		note = h("p", { class: "note", "aria-live": "polite" }, "Reading the stacks…");
		table = h("div");
		picture = chart({ title: "Flame graph", name: "flame-graph",
			controls: [ways, h("label", { class: "hint" }, "frames: ", kinds), out], key,
			height: width => ROW * (1 + Math.max(2, ...layout(tree, filled.measure.total, top, width,
				LEAST).map(b => b.depth + 1))),
			draw, tip: (x, y) => (hit(x, y) ? about(hit(x, y).call) : null),
			click: (x, y, e) => {
				const b = hit(x, y);
				if (b) e.shiftKey ? filter(b.call, true) : zoom(b.call);
			},
			table: () => ({ columns: columns(), rows: rows(), sort: "total" }) });
		el.append(note);
		this.ready = load();
	},
	draw() {
		if (failed) note.textContent = `The stacks cannot be shown: ${failed}`;
		if (!sources) return;
		if (!sources.best) choose();
		if (!picture.el.isConnected) {
			box.replaceChildren(picture.el, h("section", { class: "card" }, h("header", {}, h("h2", {}, "Self and total")),
				table));
			picture.el.append(note);
			if (sources.best === "levels") picture.el.append(h("p", { class: "note" },
				"Hardly any sample of this trace has a call stack: boxes are levels, from above, and functions."));
		}
		make();
		ways.value = inverted() ? "up" : "down";
		kinds.value = frames();
		const sums = sumsOf([]), samples = fill(tree, per(sums, 0));
		filled = { samples, measure: sums.total[1] > 0 ? fill(tree, per(sums, 1)) : samples };
		all = filled.measure.total[0] || 1;
		show();
		table.replaceChildren(tablebox({ name: "calls", columns: columns(), rows: rows(), sort: "total", most: 60, tools: true,
			chosen: r => page.state.filters[tree.kind[r.call] === COMPONENT ? levelOf(r.call) :
				"function"]?.values.includes(tree.key[r.call]),
			click: (r, e) => filter(r.call, e.shiftKey) }).el);
	},
	drawn() {
		return { direction: inverted() ? "up" : "down", frames: frames(), samples: filled?.samples.total[0] ?? 0,
			boxes: boxes.map(b => ({ name: label(b.call), depth: b.depth, share: filled.measure.total[b.call] / all,
				samples: filled.samples.total[b.call] })) };
	},
};
