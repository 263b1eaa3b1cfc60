// SPDX-License-Identifier: MIT
// This module draws two levels as rings, of which the inner one has parts, and the outer one shows what each of them is made of.
// Hovering shows a part's hottest lines.
import { h, shown } from "./dom.js";
import { chart, inLines } from "./chart.js";
import { count, percent, interval } from "./format.js";
import { hottestTip } from "./hottest.js";

const LEAST = 0.002; // Parts of the outer ring below this share of the circle are one part, in each part of the inner ring.

// A ring's part is drawn in two halves, since an arc that ends where it begins would be none.
const arc = (x, y, r0, r1, from, to) => {
	const middle = (from + to) / 2, p = (r, t) => `${(x + r * Math.sin(t)).toFixed(2)},${(y - r * Math.cos(t)).toFixed(2)}`;
	const along = (r, turn, ends) => ends.map(t => `A${r},${r} 0 0 ${turn} ${p(r, t)}`).join("");
	return `M${p(r1, from)}${along(r1, 1, [middle, to])}L${p(r0, to)}${along(r0, 0, [middle, from])}Z`;
};

// ask(a, b) returns sums by two dimensions that are shown instead of the page's.  The lines of a tooltip are also of also(), and leave
// the filters in `except` aside (see hottest.js).
export function sunburst(page, { ask = null, also = () => [], except = [] } = {}) {
	const { state, dimensions, colours, facts } = page, levels = facts.levels.map((_, i) => `level:${i}`);
	const ids = [...levels, ...(levels.includes(dimensions.main) ? [] : [dimensions.main]), "mode", "method"];
	const byRank = facts.levels.map((l, i) => [l.rank, i]).sort((a, b) => a[0] - b[0]).map(([, i]) => `level:${i}`);
	const other = byRank.find(id => id !== dimensions.main && dimensions.get(id).nr > 1 && dimensions.get(id).nr <= 60) ?? "mode";
	const rank = id => facts.levels[Number(id.slice(6))].rank;
	const above = byRank.includes(other) && (!byRank.includes(dimensions.main) || rank(other) <= rank(dimensions.main));
	// The outer ring shows what the inner one is made of: pipelines of operators, and operators of functions.
	const defaults = above ? [other, dimensions.main] : [dimensions.main, other];
	const select = which =>
		h("select", {
			"aria-label": which ? "Outer ring" : "Inner ring",
			onchange: e => state.option(which ? "outer" : "inner", e.target.value)
		}, ids.map(id => h("option", { value: id }, shown(dimensions.get(id).title, 24))));
	const selects = [select(0), select(1)];
	const chosen = i => ids.includes(state.option(i ? "outer" : "inner")) ? state.option(i ? "outer" : "inner") : defaults[i];
	let parts = [], total = 1, centre = [0, 0], radius = 100, sums;

	function place(w) {
		const [a, b] = [chosen(0), chosen(1)];
		selects.forEach((s, i) => s.value = chosen(i));
		sums = ask ? ask(a, b) : state.sums(a, b);
		total = sums.totalMeasure || 1;
		parts = [];
		let at = 0;
		const inner = Array.from({ length: sums.nr }, (_, i) => [
			i,
			Array.from({ length: sums.nrB }, (_, j) => sums.measure(i, j)).reduce((x, y) => x + y, 0)
		])
			.filter(([, v]) => v > 0)
			.sort((x, y) => y[1] - x[1]);
		for (const [i, value] of inner) {
			const from = at, dimension = dimensions.get(a);
			parts.push({
				ring: 0,
				i,
				id: a,
				value: dimension.values[i],
				name: dimension.label(dimension.values[i]),
				measure: value,
				samples: Array.from({ length: sums.nrB }, (_, j) => sums.samples(i, j)).reduce((x, y) => x + y, 0),
				from,
				to: from + (value / total) * 2 * Math.PI
			});
			at = parts[parts.length - 1].to;
			let outer = from, rest = 0;
			const kids = Array.from({ length: sums.nrB }, (_, j) => [j, sums.measure(i, j)])
				.filter(([, v]) => v > 0)
				.sort((x, y) => y[1] - x[1]);
			for (const [j, v] of kids) {
				if (v / total < LEAST && kids.length > 1) {
					rest += v;
					continue;
				}
				const d = dimensions.get(b);
				parts.push({
					ring: 1, i, j, id: b, value: d.values[j], name: d.label(d.values[j]),
					measure: v, samples: sums.samples(i, j), from: outer,
					to: (outer += (v / total) * 2 * Math.PI)
				});
			}
			if (rest > 0)
				parts.push({
					ring: 1, i, name: "smaller parts", measure: rest, samples: NaN, from: outer,
					to: outer + (rest / total) * 2 * Math.PI
				});
		}
		centre = [w / 2, w < 360 ? w / 2 : 150];
		radius = Math.min(centre[1], w / 2) - 6;
	}
	const rings = ring => ring ? [radius * 0.68, radius] : [radius * 0.34, radius * 0.67];
	function draw(pen, w) {
		place(w);
		for (const p of parts) {
			const [r0, r1] = rings(p.ring), filter = p.id && state.filters[p.id]?.values;
			pen.path(arc(...centre, r0, r1, p.from, p.to), {
				fill: colours.of(p.id ?? dimensions.main, p.value ?? 0),
				stroke: pen.theme.card,
				width: 1,
				opacity: filter && !filter.includes(p.value) ? 0.35 : p.ring ? 0.8 : 1
			});
		}
		const taken = [];
		for (const p of [...parts].sort((a, b) => b.measure - a.measure)) {
			const [r0, r1] = rings(p.ring);
			const middle = (p.from + p.to) / 2;
			const r = (r0 + r1) / 2;
			const long = (p.to - p.from) * r;
			const room = Math.min(long, r1 - r0 + 20) - 4;
			if (room < 26 || long < 15) continue;
			const size = 11;
			const text = long < 30 ? [shown(p.name, 60)] : inLines(pen, p.name, room, size);
			const high = 12 * text.length;
			const x = centre[0] + r * Math.sin(middle);
			const y = centre[1] - r * Math.cos(middle);
			const wide = Math.min(Math.max(...text.map(t => pen.width(t, size))), room);
			if (taken.some(t => Math.abs(t.y - y) < (t.high + high) / 2 + 2 && Math.abs(t.x - x) < (t.wide + wide) / 2 + 4))
				continue;
			taken.push({ x, y, wide, high });
			pen.rect(x - wide / 2 - 2, y - high / 2 - 1, wide + 4, high + 2, pen.theme.card, { opacity: 0.82 });
			text.forEach((t, i) => pen.text(x, y + 12 * (i + 0.5) - high / 2, t, { size, align: "center", most: room }));
		}
		pen.text(centre[0], centre[1] - 7, parts.length ? count(sums.total[0]) : "no", { align: "center", size: 15, bold: true });
		pen.text(centre[0], centre[1] + 10, "samples", { align: "center", size: 11, fill: pen.theme.quiet });
	}
	const hit = (x, y) => {
		const dx = x - centre[0];
		const dy = y - centre[1];
		const r = Math.hypot(dx, dy);
		const angle = (Math.atan2(dx, -dy) + 2 * Math.PI) % (2 * Math.PI);
		return parts.find(p => r >= rings(p.ring)[0] && r < rings(p.ring)[1] && angle >= p.from && angle < p.to);
	};
	// Returns the hottest lines of a part.  At the outer ring, they are of samples that have both of its components.
	const hottest = p =>
		!p.id ? [] : hottestTip(page, [...also(), [chosen(0), p.i], ...(p.ring ? [[chosen(1), p.j]] : [])], total, { except });
	function tip(x, y) {
		const p = hit(x, y);
		if (!p) return null;
		const [low, high] = interval(p.measure / total, p.j === undefined ? p.samples : sums.evidence(p.i, p.j));
		return [
			p.name,
			`${percent(p.measure / total)} (95 % interval ${percent(low)} – ${percent(high)})` +
				(Number.isFinite(p.samples) ? `, ${count(p.samples)} samples` : ""),
			...hottest(p)
		];
	}
	// The keyboard goes to the middles of parts.
	const spots = () => parts.map(p => {
		const [r0, r1] = rings(p.ring), r = (r0 + r1) / 2, t = (p.from + p.to) / 2;
		return { x: centre[0] + r * Math.sin(t) - 5, y: centre[1] - r * Math.cos(t) - 5, w: 10, h: 10 };
	});
	const view = chart({
		title: "Levels",
		name: "levels",
		controls: selects,
		height: w => (w < 360 ? w : 300),
		draw,
		tip,
		spots,
		ordered: true,
		click: (x, y, e) => {
			const p = hit(x, y);
			if (p?.id) state.toggle(p.id, p.value, e.shiftKey);
		},
		table: () => ({
			columns: [
				{ key: "ring", title: "ring", type: "text", value: p => (p.ring ? "outer" : "inner") },
				{ key: "name", title: "name", type: "text", value: p => p.name },
				{ key: "share", title: "share", type: "share", value: p => p.measure / total },
				{ key: "samples", title: "samples", type: "count", value: p => p.samples }
			],
			rows: parts
		})
	});
	return { ...view, drawn: () => parts.map(({ ring, name, samples, measure }) => ({ ring, name, samples, share: measure / total })) };
}
