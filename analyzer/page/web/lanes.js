// SPDX-License-Identifier: MIT
// The values of a dimension with the largest sums have a lane of activity over time each, as high as its cost, or as its share of what ran
// at that time.
import { h } from "./dom.js";
import { chart, inLines } from "./chart.js";
import { groupKey } from "./activity.js";
import { count, percent, seconds, ticks } from "./format.js";
import { shown } from "./dom.js";

const LANE = 26, GAP = 4, AXIS = 20, MOST = 14;

export function lanes(page, { title = "Lanes", id = page.dimensions.main, most = MOST, option = "lanes" } = {}) {
	const { state, facts, dimensions, colours } = page, dimension = dimensions.get(id);
	let order = [], sums, bins = 100, from = 0, to = 1, left = 130, width = 640;
	const relative = () => state.option(option) === "relative";
	const toggle = h("button", { class: "small", title: "Heights: cost of the lane, or share of all lanes at that time",
				     onclick: () => state.option(option, relative() ? "absolute" : "relative") });

	function sum(w) {
		const range = state.filters.time, end = Math.ceil((facts.last_ns - facts.first_ns) / facts.time_ns) + 1;
		width = w;
		left = w < 500 ? 90 : 150;
		bins = Math.max(10, Math.min(600, Math.floor((w - left - 8) / 2)));
		from = range ? Math.round(range.from) : 0;
		to = Math.max(from + 1, range ? Math.round(range.to) : end);
		const keys = state.sums(id, null, [id]).order(), rest = keys.slice(most);
		order = keys.slice(0, most);
		sums = state.sums(
			groupKey(dimension, [...order.map(k => [k]), ...(rest.length ? [rest] : [])], ["lanes", id]),
			{ column: "time", from, to, bins },
			[id]
		);
	}
	const label = k => dimension.label(dimension.values[k]);
	function draw(pen, w) {
		toggle.textContent = relative() ? "relative" : "absolute";
		toggle.setAttribute("aria-pressed", String(relative()));
		const step = (w - left - 8) / bins, total = new Float64Array(bins);
		let top = 1e-9;
		for (let b = 0; b < bins; b++) {
			for (let k = 0; k < sums.nr; k++) total[b] += sums.measure(k, b);
			order.forEach((_, i) => { top = Math.max(top, sums.measure(i, b)); });
		}
		order.forEach((k, i) => {
			const y = i * (LANE + GAP), chosen = state.filters[id]?.values;
			const text = inLines(pen, label(k), left - 14), size = text.length > 1 ? 11 : 12;
			text.forEach((t, n) =>
				pen.text(left - 8, y + LANE / 2 + 12 * (n + 0.5) - 6 * text.length, t, {
					size,
					align: "right",
					most: left - 14,
					bold: chosen?.includes(dimension.values[k])
				})
			);
			pen.line(left, y + LANE + 0.5, w - 8, y + LANE + 0.5, pen.theme.line);
			const colour = colours.of(id, dimension.values[k]);
			const opacity = chosen && !chosen.includes(dimension.values[k]) ? 0.35 : 1;
			for (let b = 0; b < bins; b++) {
				const value = sums.measure(i, b);
				const high = value <= 0 ? 0 : LANE * (relative() ? value / total[b] : value / top);
				if (high > 0) pen.rect(left + b * step, y + LANE - high, step + 0.3, high, colour, { opacity });
			}
		});
		const axis = ticks(from, to, (w - left) / 100), y = order.length * (LANE + GAP);
		for (const t of axis.at) {
			const x = left + (t - from) / (to - from) * (w - left - 8);
			pen.text(x, y + AXIS / 2, seconds(t, axis.step), {
				size: 11,
				fill: pen.theme.quiet,
				align: x > w - 40 ? "right" : x < left + 20 ? "left" : "center"
			});
		}
		if (!order.length) pen.text(w / 2, 10, "No samples pass the filters.", { align: "center", fill: pen.theme.quiet });
	}
	const lane = y => order[Math.floor(y / (LANE + GAP))];
	function tip(x, y) {
		const k = lane(y), i = order.indexOf(k), b = Math.floor((x - left) / (width - left - 8) * bins);
		if (k === undefined) return null;
		if (b < 0 || b >= bins) return [label(k)];
		let all = 0;
		for (let j = 0; j < sums.nr; j++) all += sums.measure(j, b);
		return [
			label(k),
			`${seconds(from + (b / bins) * (to - from), (to - from) / bins)}: ${count(sums.samples(i, b))} samples`,
			`${percent(all > 0 ? sums.measure(i, b) / all : 0)} of what ran then`
		];
	}
	const view = chart({
		title,
		name: "lanes",
		controls: toggle,
		height: w => (sum(w), Math.max(1, order.length) * (LANE + GAP) + AXIS),
		draw,
		tip,
		spots: () => order.map((_, i) => ({ x: 0, y: i * (LANE + GAP), w: left - 4, h: LANE })),
		click: (x, y, e) => lane(y) !== undefined && state.toggle(id, dimension.values[lane(y)], e.shiftKey),
		table: () => ({
			columns: [
				{ key: "from", title: "from (s)", type: "number", value: b => (from + (b / bins) * (to - from)) / 1e6 },
				...order.map((k, i) => ({
					key: `k${k}`,
					title: shown(label(k), 40),
					type: "count",
					value: b => sums.samples(i, b)
				}))
			],
			rows: Array.from({ length: bins }, (_, b) => b)
		})
	});
	return {
		...view,
		drawn: () => ({
			relative: relative(),
			lanes: order.map((k, i) => ({
				name: label(k),
				samples: Array.from({ length: bins }, (_, b) => sums.samples(i, b)).reduce((x, y) => x + y, 0)
			}))
		})
	};
}
