// SPDX-License-Identifier: MIT
// The plan as a graph: operators as boxes coloured by cost, rows on the edges, estimated against actual.  Places are the trace writer's.
import { chart } from "./chart.js";
import { count, percent, short, interval } from "./format.js";
import { heat } from "./colours.js";
import { countColumns, countLine } from "./counts.js";
import { h, shown } from "./dom.js";
import { hottestTip } from "./hottest.js";

const BOX_W = 168, BOX_H = 46, GAP_X = 14, GAP_Y = 34, MARGIN = 8, HEAD = 20, LEAST_SCALE = 0.65, PLANS_SHOWN = 6, ALONE_SHOWN = 12;

// beside(component, brief): a text in its box, instead of its details, brief there.  ask(dimension, except): sums instead of the page's; also(), without: what
// else the lines of a tooltip are of, and the filters that these leave aside (see hottest.js).
export function planChart(page, { title = "Plan", beside = null, ask = null, also = () => [], without = [] } = {}) {
	const { state, facts, dimensions, colours } = page, id = dimensions.main, level = dimensions.get(id), c = facts.components;
	const counters = v => c.counters[v] ?? {};
	let boxes = [], edges = [], heads = [], sums, all = 1, scale = 1, height = 120, zoom = 1, left0 = 0, wide = 1, room = 1;
	const small = (text, title, fn) => h("button", { class: "small", title, "aria-label": title, onclick: fn }, text);
	const more = h("span", { class: "hint" });
	const controls = h("span", { hidden: true },
		small("−", "Zoom out", () => zoomBy(1 / 1.5)),
		small("+", "Zoom in", () => zoomBy(1.5)),
		small("Fit", "The whole plan", () => zoomBy(0))
	);

	// Larger or smaller around a place of the picture; 0: all of it.
	function zoomBy(by, x = room / 2) {
		const before = scale;
		zoom = by ? Math.max(1, Math.min(by * zoom, 1.2 / Math.min(1, room / wide))) : 1;
		left0 = (left0 + x) * (Math.min(1, room / wide) * zoom) / before - x;
		view.draw();
	}

	// Plans side by side and in rows, those with the largest sums first: as many in a row as can be read.
	function place(w) {
		sums = ask ? ask(id, [id]) : state.sums(id, null, [id]);
		all = sums.totalMeasure || 1;
		boxes = [];
		edges = [];
		heads = [];
		const key = v => level.at.get(v), of = v => key(v) === undefined ? 0 : sums.measure(key(v));
		const trees = facts.plans.flatMap(plan => {
			const list = [];
			plan.nodes.forEach(([component, parent, depth, x], i) => {
				if (!parent)
					list.push({
						nodes: [],
						first: Infinity,
						last: 0,
						measure: 0,
						head: headOf(plan, plan.roots.find(r => r.node === i))
					});
				const tree = list[list.length - 1];
				tree.nodes.push({ component, parent: parent ? i : -1, depth, x, up: parent - 1, at: i });
				tree.first = Math.min(tree.first, x);
				tree.last = Math.max(tree.last, x);
				tree.measure += of(component);
			});
			return list;
		});
		trees.sort((a, b) => b.measure - a.measure);
		const several = trees.some(t => t.nodes.length > 1); // then what belongs to none is there for its samples
		const plans = trees.filter(t => t.nodes.length > 1);
		const alone = trees.filter(t => t.nodes.length === 1 && (!several || key(t.nodes[0].component) !== undefined));
		const shownPlans = plans.slice(0, PLANS_SHOWN);
		more.textContent = plans.length > PLANS_SHOWN ? `the ${PLANS_SHOWN} most expensive of ${plans.length} plans` : "";
		// operators of no plan (a server's parsing, sorting) stand below each other
		alone.splice(ALONE_SHOWN);
		alone.forEach((t, i) => Object.assign(t, { x: plans.length ? 0 : i % 4, y: plans.length ? i : Math.floor(i / 4) }));
		const own = shownPlans.map(tree => ({ trees: [tree], head: tree.head, columns: tree.last - tree.first + 1,
			high: (Math.max(...tree.nodes.map(n => n.depth)) + 1) * (BOX_H + GAP_Y) - GAP_Y }));
		const blocks = alone.length
			? [
					...own,
					{
						trees: alone, columns: 1 + Math.max(...alone.map(t => t.x)),
						high: (1 + Math.max(...alone.map(t => t.y))) * (BOX_H + 8)
					}
				]
			: own;
		const head = blocks.some(block => block.head) ? HEAD : 0;
		const most = Math.max(w / LEAST_SCALE, ...blocks.map(block => blockWidth(block)));
		let left = MARGIN, top = MARGIN, right = 1, low = 80;
		for (const block of blocks) {
			if (left > MARGIN && left + blockWidth(block) > most) [left, top] = [MARGIN, low + GAP_Y];
			if (block.head) heads.push({ text: block.head, x: left, y: top });
			for (const tree of block.trees) put(tree, left, top + head);
			low = Math.max(low, top + head + block.high);
			left += blockWidth(block) + GAP_X;
			right = Math.max(right, left);
		}
		// a query may be longer than its plan is wide: up to the next one, or to the edge
		heads.forEach((head, i) => head.wide = (heads[i + 1]?.y === head.y ? heads[i + 1].x : Math.max(right, w)) - GAP_X - head.x);
		height = Math.max(...boxes.map(b => b.y + BOX_H), 80) + MARGIN;
		return right;

		function put(tree, x, y) {
			const single = tree.y !== undefined, by = new Map();
			for (const n of tree.nodes) {
				const box = {
					component: n.component,
					x: x + (single ? tree.x : n.x - tree.first) * (BOX_W + GAP_X),
					y: y + (single ? tree.y * (BOX_H + 8) : n.depth * (BOX_H + GAP_Y)),
					measure: of(n.component),
					weight: key(n.component) === undefined ? 0 : sums.weight(key(n.component)),
					samples: key(n.component) === undefined ? 0 : sums.samples(key(n.component)),
					key: key(n.component)
				};
				boxes.push(box);
				by.set(n.component, box);
			}
			const at = new Map(tree.nodes.map(n => [n.at, n])), drawn = new Set();
			for (const n of tree.nodes) {
				if (n.up < 0) continue;
				edges.push({ from: by.get(n.component), to: by.get(at.get(n.up).component) });
				drawn.add(`${n.component} ${at.get(n.up).component}`);
			}
			for (const [from, to] of facts.edges)
				if (by.has(from) && by.has(to) && !drawn.has(`${from} ${to}`))
					edges.push({ from: by.get(from), to: by.get(to), extra: true });
		}
	}
	const blockWidth = ({ columns }) => columns * (BOX_W + GAP_X);
	// What a plan is of: its query, and its process where several have plans.
	const many = new Set(facts.plans.map(p => p.process)).size > 1;
	function headOf({ process }, root) {
		const { comm, pid } = facts.processes, of = root?.of, text = root?.text || root?.query || (of && c.detail[of]) || "";
		return [
			many && process >= 0 ? `${comm[process]} ${pid[process]}` : "",
			of ? c.name[of] : "",
			text.replace(/\s+/g, " ").trim()
		]
			.filter(Boolean)
			.join(": ");
	}
	const factor = v => {
		const { rows, "estimated rows": estimate } = counters(v);
		return rows === undefined || estimate === undefined ? null : Math.max(rows, 1) / Math.max(estimate, 1);
	};
	const rowsText = v => {
		const { rows, "estimated rows": estimate } = counters(v);
		if (rows === undefined && estimate === undefined) return "";
		return rows === undefined
			? `est. ${short(estimate)}`
			: estimate === undefined
				? short(rows)
				: `${short(rows)} (est. ${short(estimate)})`;
	};

	function draw(pen, w) {
		wide = place(w);
		room = w;
		scale = Math.min(1, w / wide) * zoom;
		controls.hidden = wide * 0.8 <= w;
		left0 = Math.max(0, Math.min(left0, wide * scale - w));
		const chosen = state.filters[id]?.values;
		const X = v => v * scale;
		const most = Math.max(1e-9, ...boxes.map(b => b.measure));
		const size = Math.max(9, 12 * Math.min(1, scale * 1.15));
		const shift = Math.max(0, (w - wide * scale) / 2) - left0;
		for (const b of boxes) {
			b.px = shift + X(b.x);
			b.pw = X(BOX_W);
		}
		for (const head of heads) {
			head.px = shift + X(head.x);
			head.pw = X(head.wide);
			pen.text(head.px, head.y + HEAD / 2 - 4, shown(head.text, 400), {
				size: 11.5, fill: pen.theme.quiet, most: head.pw
			});
		}
		for (const e of edges) {
			if (Math.max(e.from.px, e.to.px) + e.from.pw < 0 || Math.min(e.from.px, e.to.px) > w) continue;
			const x1 = e.from.px + e.from.pw / 2;
			const y1 = e.from.y;
			const x2 = e.to.px + e.to.pw / 2;
			const y2 = e.to.y + BOX_H;
			const middle = (y1 + y2) / 2;
			const wrong = factor(e.from.component), off = wrong !== null && (wrong >= 10 || wrong <= 0.1);
			const thick = 1 + 3 * Math.min(1, Math.log10(1 + (counters(e.from.component).rows ?? 0)) / 8);
			pen.path(`M${x1},${y1}C${x1},${middle} ${x2},${middle} ${x2},${y2}`, {
				stroke: off ? pen.theme.hot : pen.theme.quiet,
				width: thick,
				opacity: e.extra ? 0.35 : 0.6
			});
			const text = rowsText(e.from.component), room = (e.from.pw + X(GAP_X)) - 6;
			if (text && scale > 0.4) {
				const fitting = pen.width(text, 10.5) < room ? text : short(counters(e.from.component).rows ?? NaN);
				pen.rect(x1 - pen.width(fitting, 10.5) / 2 - 3, y1 - 17, pen.width(fitting, 10.5) + 6, 13, pen.theme.card, {
					opacity: 0.9
				});
				pen.text(x1, y1 - 10.5, fitting + (off ? " !" : ""), {
					size: 10.5, align: "center", fill: off ? pen.theme.hot : pen.theme.quiet
				});
			}
		}
		for (const b of boxes) {
			const share = b.measure / all;
			if (b.px + b.pw < 0 || b.px > w) continue;
			pen.rect(b.px, b.y, b.pw, BOX_H, pen.theme.card, {
				stroke: chosen?.includes(b.component) ? pen.theme.accent : pen.theme.line
			});
			pen.rect(b.px, b.y, b.pw, BOX_H, heat(b.measure / most));
			pen.rect(b.px, b.y, 4, BOX_H, colours.of(id, b.component));
			pen.rect(b.px + 4, b.y + BOX_H - 3, (b.pw - 4) * share, 3, colours.of(id, b.component));
			if (chosen?.includes(b.component))
				pen.rect(b.px - 1, b.y - 1, b.pw + 2, BOX_H + 2, null, { stroke: pen.theme.accent });
			if (b.pw > 40) write(pen, b, percent(share), size);
		}
		if (!boxes.length)
			pen.text(w / 2, 40, "The host declared no plan: no level with edges between components.", {
				align: "center", fill: pen.theme.quiet
			});
	}
	// What stands in a box: its name with its share, and its details; or its share and what stands beside it.
	function write(pen, b, share, size) {
		const v = b.component;
		const full = level.label(v);
		const detail = c.detail[v] ?? "";
		const quiet = { size: size - 0.5, fill: pen.theme.quiet };
		const apart = !beside && b.pw > 110;
		const title = (apart || b.pw <= 110) && full === `${c.name[v]} (${detail})` ? c.name[v] : full; // what tells it from others is below, or has no room
		pen.text(b.px + 10, b.y + 15, shown(title, 60), {
			size, bold: true, most: b.pw - 16 - (apart ? pen.width(share, size) + 6 : 0)
		});
		if (apart) pen.text(b.px + b.pw - 7, b.y + 15, share, { ...quiet, align: "right" });
		pen.text(
			b.px + 10,
			b.y + 32,
			apart ? shown(detail, 60) : share + (b.pw > 110 ? `  ${shown(beside?.(v, true) ?? detail, 60)}` : ""),
			{ ...quiet, most: b.pw - 16 }
		);
	}
	const hit = (x, y) => boxes.find(b => x >= b.px && x <= b.px + b.pw && y >= b.y && y <= b.y + BOX_H);
	function tip(x, y) {
		const b = hit(x, y), head = heads.find(a => y >= a.y && y < a.y + HEAD && x >= a.px && x < a.px + a.pw);
		if (!b) return head ? [shown(head.text, 1000)] : null;
		const share = b.measure / all;
		const [low, high] = b.key === undefined ? [0, 0] : interval(share, sums.evidence(b.key));
		const wrong = factor(b.component);
		return [
			level.label(b.component),
			c.detail[b.component],
			beside?.(b.component),
			`${percent(share)} (95 % interval ${percent(low)} – ${percent(high)}), ${count(b.samples)} samples`,
			page.facts === page.data[0].facts && countLine(page, b.component, b.weight),
			rowsText(b.component) &&
				`rows: ${rowsText(b.component)}` +
					(wrong !== null && (wrong >= 2 || wrong <= 0.5)
						? `, ${wrong >= 1 ? "×" + short(wrong) : "÷" + short(1 / wrong)} of the estimate`
						: ""),
			...Object.entries(counters(b.component))
				.filter(([k]) => k !== "rows" && k !== "estimated rows")
				.slice(0, 6)
				.map(([k, v]) => `${k}: ${short(v)}`),
			...(b.key === undefined ? [] : hottestTip(page, [...also(), [id, b.key]], all, { except: [id, ...without] }))
		].filter(Boolean);
	}
	// Boxes for the keyboard, and those outside of the picture moved into it.
	const spots = () => boxes.map(b => ({ x: b.px, y: b.y, w: b.pw, h: BOX_H }));
	const reveal = spot => { if (spot.x < 0 || spot.x + spot.w > room) left0 += spot.x - (room - spot.w) / 2; };
	const table = () => ({
		sort: "share",
		columns: [
			{ key: "name", title: level.title, type: "text", value: b => level.label(b.component) },
			{ key: "share", title: "share", type: "share", value: b => b.measure / all },
			{ key: "samples", title: "samples", type: "count", value: b => b.samples },
			{ key: "rows", title: "rows", type: "count", value: b => counters(b.component).rows ?? null },
			{
				key: "estimated", title: "estimated", type: "count",
				value: b => counters(b.component)["estimated rows"] ?? null
			},
			{ key: "error", title: "actual / estimated", type: "number", value: b => factor(b.component) },
			{ key: "total", title: "total", type: "share", value: b => below(b) / all },
			...(page.facts === page.data[0].facts
				? countColumns(page, b => b.component, b => b.weight)
				: [])
		],
		rows: boxes
	});
	// With its children, along the tree.
	const below = b => b.measure + edges.filter(e => e.to === b && !e.extra).reduce((sum, e) => sum + below(e.from), 0);
	const view = chart({
		title,
		name: "plan",
		spots,
		reveal,
		controls: [controls, more],
		height: w => (place(w), Math.max(90, height)),
		draw,
		tip,
		click: (x, y, e) => hit(x, y) && state.toggle(id, hit(x, y).component, e.shiftKey),
		table,
		key: e => {
			if (e.key === "+") zoomBy(1.5);
			else if (e.key === "-") zoomBy(1 / 1.5);
			else return false;
			return true;
		}
	});
	let drag = null;
	view.canvas.addEventListener("pointerdown", e => drag = { x: e.clientX, left: left0, moved: false });
	view.canvas.addEventListener("pointermove", e => {
		if (!drag || !(e.buttons & 1)) return void (drag = null);
		if (wide * scale <= room || Math.abs(e.clientX - drag.x) < 4 && !drag.moved) return;
		drag.moved = true;
		left0 = drag.left - (e.clientX - drag.x);
		view.draw();
	});
	view.canvas.addEventListener("click", e => drag?.moved && e.stopImmediatePropagation(), { capture: true });
	view.canvas.addEventListener("wheel", e => {
		if (wide <= room || !(e.ctrlKey || e.shiftKey)) return;
		e.preventDefault();
		zoomBy(e.deltaY < 0 ? 1.2 : 1 / 1.2, view.at(e)[0]);
	}, { passive: false });
	return {
		...view,
		drawn: () =>
			boxes.map(b => ({
				name: level.label(b.component), component: b.component, samples: b.samples,
				share: b.measure / all, rows: counters(b.component).rows ?? null
			}))
	};
}
