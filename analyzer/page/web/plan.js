// SPDX-License-Identifier: MIT
// This module draws the plan as a graph, in which operators are boxes coloured by cost, and edges show rows, estimated against actual.
// The layout is that of planlayout.js.
import { chart } from "./chart.js";
import { heat } from "./colours.js";
import { countColumns, countLine } from "./counts.js";
import { h, shown } from "./dom.js";
import { errorText, estimateError, rowsText } from "./estimates.js";
import { count, interval, percent, short } from "./format.js";
import { hottestTip } from "./hottest.js";
import { BOX_H, BOX_W, GAP_X, HEAD, WHOLE, layoutPlans, viewed, withChildren, zoomed } from "./planlayout.js";

const EDGE_TEXT = 10.5; // font size
const TITLED_W = 110; // a narrower box has no room for its share beside its name
const WRITTEN_W = 40; // a narrower box has no text

/*
 * beside(component, brief): a text that a box has instead of its details; brief where it is short.
 * ask(dimension, except): sums that are shown instead of the page's.
 * also(), without: what else the lines of a tooltip are of, and the filters that these leave aside (see hottest.js).
 */
export function planChart(page, { title = "Plan", beside = null, ask = null, also = () => [], without = [] } = {}) {
	const { state, facts, dimensions, colours } = page;
	const id = dimensions.planId, level = dimensions.get(id), each = dimensions.get(id.replace("level:", "each:"));
	const c = facts.components;
	const counters = v => c.counters[v] ?? {};
	let boxes = [], edges = [], heads = [], sums, all = 1, height = 120;
	let part = WHOLE, scale = 1, wide = 1, room = 1;
	const small = (text, title, fn) => h("button", { class: "small", title, "aria-label": title, onclick: fn }, text);
	const more = h("span", { class: "hint" });
	const controls = h("span", { hidden: true },
		small("−", "Zoom out", () => zoomBy(1 / 1.5)),
		small("+", "Zoom in", () => zoomBy(1.5)),
		small("Fit", "The whole plan", () => zoomBy(0))
	);

	function zoomBy(by, x = room / 2) {
		part = zoomed(part, by, x, wide, room);
		view.draw();
	}

	function place(w) {
		sums = ask ? ask(id, [id]) : state.sums(each.id, null, [id]);
		all = sums.totalMeasure || 1;
		const cost = v => {
			const key = (ask ? level : each).at.get(v), known = key !== undefined;
			return {
				key,
				measure: known ? sums.measure(key) : 0,
				weight: known ? sums.weight(key) : 0,
				samples: known ? sums.samples(key) : 0
			};
		};
		const layout = layoutPlans(facts, cost, w);
		({ boxes, edges, heads, wide, height } = layout);
		more.textContent =
			layout.nrPlans > layout.nrShown ? `the ${layout.nrShown} most expensive of ${layout.nrPlans} plans` : "";
	}

	// Boxes and heads keep where they are in the picture: px, and their width pw.
	function draw(pen, w) {
		place(w);
		room = w;
		controls.hidden = wide * 0.8 <= w;
		const now = viewed(part, wide, w);
		scale = now.scale;
		part = { ...part, left: now.left };
		for (const b of boxes) {
			b.px = now.shift + b.x * scale;
			b.pw = BOX_W * scale;
		}
		for (const head of heads) {
			head.px = now.shift + head.x * scale;
			head.pw = head.wide * scale;
			pen.text(head.px, head.y + HEAD / 2 - 4, shown(head.text, 400), {
				size: 11.5, fill: pen.theme.quiet, most: head.pw
			});
		}
		const seen = (a, b) => Math.max(a.px, b.px) + a.pw >= 0 && Math.min(a.px, b.px) <= w;
		for (const e of edges) if (seen(e.from, e.to)) drawEdge(pen, e);
		const most = Math.max(1e-9, ...boxes.map(b => b.measure));
		for (const b of boxes) if (seen(b, b)) drawBox(pen, b, most);
		if (!boxes.length)
			pen.text(w / 2, 40, "The host declared no plan: no level with edges between components.", {
				align: "center", fill: pen.theme.quiet
			});
	}

	function drawEdge(pen, { from, to, extra }) {
		const x1 = from.px + from.pw / 2, y1 = from.y;
		const x2 = to.px + to.pw / 2, y2 = to.y + BOX_H;
		const middle = (y1 + y2) / 2;
		const { rows } = counters(from.component);
		const error = estimateError(counters(from.component));
		const off = error !== null && (error >= 10 || error <= 0.1);
		pen.path(`M${x1},${y1}C${x1},${middle} ${x2},${middle} ${x2},${y2}`, {
			stroke: off ? pen.theme.hot : pen.theme.quiet,
			width: 1 + 3 * Math.min(1, Math.log10(1 + (rows ?? 0)) / 8),
			opacity: extra ? 0.35 : 0.6
		});
		const text = rowsText(counters(from.component));
		if (!text || scale <= 0.4) return;
		const fits = pen.width(text, EDGE_TEXT) < from.pw + GAP_X * scale - 6;
		const fitting = fits ? text : short(rows ?? NaN);
		const wide = pen.width(fitting, EDGE_TEXT);
		pen.rect(x1 - wide / 2 - 3, y1 - 17, wide + 6, 13, pen.theme.card, { opacity: 0.9 });
		pen.text(x1, y1 - 10.5, fitting + (off ? " !" : ""), {
			size: EDGE_TEXT, align: "center", fill: off ? pen.theme.hot : pen.theme.quiet
		});
	}

	function drawBox(pen, b, most) {
		const share = b.measure / all;
		const chosen = state.filters[id]?.values.includes(level.rep(b.component));
		const colour = colours.of(id, b.component);
		pen.rect(b.px, b.y, b.pw, BOX_H, pen.theme.card, { stroke: chosen ? pen.theme.accent : pen.theme.line });
		pen.rect(b.px, b.y, b.pw, BOX_H, heat(b.measure / most));
		pen.rect(b.px, b.y, 4, BOX_H, colour);
		pen.rect(b.px + 4, b.y + BOX_H - 3, (b.pw - 4) * share, 3, colour);
		if (chosen) pen.rect(b.px - 1, b.y - 1, b.pw + 2, BOX_H + 2, null, { stroke: pen.theme.accent });
		if (b.pw > WRITTEN_W) write(pen, b, percent(share), Math.max(9, 12 * Math.min(1, scale * 1.15)));
	}

	// A box has its name with its share and, below, its details; or, below its name, its share and what stands beside it.
	function write(pen, b, share, size) {
		const v = b.component;
		const full = level.label(v);
		const detail = c.detail[v] ?? "";
		const quiet = { size: size - 0.5, fill: pen.theme.quiet };
		const apart = !beside && b.pw > TITLED_W;
		// The name alone is enough where the detail that tells it from others stands below it, or has no room.
		const bare = (apart || b.pw <= TITLED_W) && full === `${c.name[v]} (${detail})`;
		pen.text(b.px + 10, b.y + 15, shown(bare ? c.name[v] : full, 60), {
			size, bold: true, most: b.pw - 16 - (apart ? pen.width(share, size) + 6 : 0)
		});
		if (apart) pen.text(b.px + b.pw - 7, b.y + 15, share, { ...quiet, align: "right" });
		const aside = () => (b.pw > TITLED_W ? `  ${shown(beside?.(v, true) ?? detail, 60)}` : "");
		pen.text(b.px + 10, b.y + 32, apart ? shown(detail, 60) : share + aside(), { ...quiet, most: b.pw - 16 });
	}

	const hit = (x, y) => boxes.find(b => x >= b.px && x <= b.px + b.pw && y >= b.y && y <= b.y + BOX_H);

	function tip(x, y) {
		const b = hit(x, y);
		const head = heads.find(a => y >= a.y && y < a.y + HEAD && x >= a.px && x < a.px + a.pw);
		if (!b) return head ? [shown(head.text, 1000)] : null;
		const share = b.measure / all;
		const [low, high] = b.key === undefined ? [0, 0] : interval(share, sums.evidence(b.key));
		const rows = rowsText(counters(b.component));
		const others = Object.entries(counters(b.component)).filter(([k]) => k !== "rows" && k !== "estimated rows");
		return [
			level.label(b.component),
			c.detail[b.component],
			beside?.(b.component),
			`${percent(share)} (95 % interval ${percent(low)} – ${percent(high)}), ${count(b.samples)} samples`,
			page.facts === page.data[0].facts && countLine(page, b.component, b.weight),
			rows && ["rows: " + rows, errorText(counters(b.component))].filter(Boolean).join(", "),
			...others.slice(0, 6).map(([k, v]) => `${k}: ${short(v)}`),
			...(b.key === undefined
				? []
				: hottestTip(page, [...also(), [ask ? id : each.id, b.key]], all, { except: [id, ...without] }))
		].filter(Boolean);
	}

	// The keyboard goes to boxes; one outside of the picture is moved into its middle.
	const spots = () => boxes.map(b => ({ x: b.px, y: b.y, w: b.pw, h: BOX_H }));
	const moveTo = left => (part = { ...part, left });
	const reveal = spot => {
		if (spot.x < 0 || spot.x + spot.w > room) moveTo(part.left + spot.x - (room - spot.w) / 2);
	};
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
			{ key: "error", title: "actual / estimated", type: "number", value: b => estimateError(counters(b.component)) },
			{ key: "total", title: "total", type: "share", value: b => withChildren(b, edges) / all },
			...(page.facts === page.data[0].facts ? countColumns(page, b => b.component, b => b.weight) : [])
		],
		rows: boxes
	});
	const view = chart({
		title,
		name: "plan",
		spots,
		reveal,
		controls: [controls, more],
		height: w => {
			place(w);
			return Math.max(90, height);
		},
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
	view.canvas.addEventListener("pointerdown", e => (drag = { x: e.clientX, left: part.left, moved: false }));
	view.canvas.addEventListener("pointermove", e => {
		if (!drag || !(e.buttons & 1)) {
			drag = null;
			return;
		}
		if (wide * scale <= room || (Math.abs(e.clientX - drag.x) < 4 && !drag.moved)) return;
		drag.moved = true;
		moveTo(drag.left - (e.clientX - drag.x));
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
