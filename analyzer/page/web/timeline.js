// SPDX-License-Identifier: MIT
// This module draws activity over time by the main dimension, stacked in steps.  A drag or the keyboard chooses a range.
import { chart } from "./chart.js";
import { partKey, partsOf } from "./activity.js";
import { count, percent, seconds, ticks } from "./format.js";
import { shown } from "./dom.js";

const LEFT = 8, BOTTOM = 20, TOP = 4;

export function timeline(page, { title = "Time line", height = 132 } = {}) {
	const { state, facts } = page;
	const end = Math.max(1, Math.ceil((facts.last_ns - facts.first_ns) / facts.time_ns) + 1);
	let sums, bins = 100, parts = [], width = 0, drag = null;

	const x = t => LEFT + t / end * (width - 2 * LEFT), time = px => Math.max(0, Math.min(end, (px - LEFT) / (width - 2 * LEFT) * end));
	const bin = px => Math.min(bins - 1, Math.floor(time(px) / end * bins));

	function sum() {
		bins = Math.max(10, Math.min(400, Math.floor((width - 2 * LEFT) / 3)));
		parts = partsOf(page);
		sums = state.sums(partKey(page, parts), { column: "time", from: 0, to: end, bins }, ["time"]);
		parts.forEach((part, i) => { part.at = i; });
	}
	const value = (part, b) => sums.measure(part.at, b), samples = (part, b) => sums.samples(part.at, b);
	const column = b => parts.reduce((s, p) => s + value(p, b), 0);

	function draw(pen, w, hgt) {
		width = w;
		sum();
		const top = Math.max(1e-9, ...Array.from({ length: bins }, (_, b) => column(b)));
		const room = hgt - BOTTOM - TOP;
		const step = (w - 2 * LEFT) / bins;
		for (let b = 0; b < bins; b++) {
			let y = hgt - BOTTOM;
			for (const part of parts) {
				const high = value(part, b) / top * room;
				if (high <= 0) continue;
				pen.rect(LEFT + b * step, y - high, step + 0.3, high, part.colour());
				y -= high;
			}
		}
		pen.line(LEFT, hgt - BOTTOM + 0.5, w - LEFT, hgt - BOTTOM + 0.5, pen.theme.line);
		const axis = ticks(0, end, w / 90);
		for (const t of axis.at) {
			pen.line(x(t), hgt - BOTTOM, x(t), hgt - BOTTOM + 4, pen.theme.line);
			pen.text(x(t), hgt - BOTTOM / 2 + 2, seconds(t, axis.step), {
				size: 11,
				fill: pen.theme.quiet,
				align: t < end * 0.03 ? "left" : t > end * 0.97 ? "right" : "center"
			});
		}
		const range = drag ?? state.filters.time;
		if (range) {
			const a = x(Math.min(range.from, range.to)), z = x(Math.max(range.from, range.to));
			pen.rect(LEFT, 0, a - LEFT, hgt - BOTTOM, pen.theme.card, { opacity: 0.72 });
			pen.rect(z, 0, w - LEFT - z, hgt - BOTTOM, pen.theme.card, { opacity: 0.72 });
			for (const edge of [a, z]) pen.line(edge, 0, edge, hgt - BOTTOM, pen.theme.accent, 1.5);
		}
	}
	function tip(px) {
		if (px < LEFT || px > width - LEFT) return null;
		const b = bin(px), all = column(b);
		const lines = [`${seconds(b / bins * end, end / bins)} – ${seconds((b + 1) / bins * end, end / bins)}`,
			       `${count(parts.reduce((s, p) => s + samples(p, b), 0))} samples`];
		for (const part of [...parts].sort((p, q) => value(q, b) - value(p, b)).slice(0, 5))
			if (value(part, b) > 0) lines.push(`${percent(value(part, b) / all)}  ${shown(part.label, 60)}`);
		return lines;
	}
	function key(e) {
		const range = state.filters.time ?? { from: 0, to: end }, wide = range.to - range.from;
		let { from, to } = range;
		if (e.key === "ArrowLeft") from -= wide / 10, to -= wide / 10;
		else if (e.key === "ArrowRight") from += wide / 10, to += wide / 10;
		else if (e.key === "+") from += wide / 8, to -= wide / 8;
		else if (e.key === "-" || e.key === "−") from -= wide / 6, to += wide / 6;
		else return false;
		if (from < 0) to = Math.min(end, to - from), from = 0;
		if (to > end) from = Math.max(0, from - (to - end)), to = end;
		choose(from, to);
		return true;
	}
	function choose(from, to, remember = true) {
		from = Math.floor(from);
		to = Math.ceil(to);
		state.set("time", from <= 0 && to >= end ? null : { from, to }, { remember });
	}
	const view = chart({
		title,
		name: "time-line",
		height,
		draw,
		tip,
		key,
		cursor: () => "crosshair",
		table: () => ({
			columns: [
				{ key: "from", title: "from (s)", type: "number", value: b => ((b / bins) * end) / 1e6 },
				...parts.map((p, i) => ({
					key: `p${i}`,
					title: shown(p.label, 40),
					type: "count",
					value: b => samples(p, b)
				}))
			],
			rows: Array.from({ length: bins }, (_, b) => b)
		})
	});
	view.canvas.addEventListener("pointerdown", e => {
		if (e.button) return;
		view.canvas.setPointerCapture(e.pointerId);
		const t = time(view.at(e)[0]);
		drag = { from: t, to: t, start: view.at(e)[0] };
	});
	view.canvas.addEventListener("pointermove", e => {
		if (!drag) return;
		drag.to = time(view.at(e)[0]);
		if (Math.abs(view.at(e)[0] - drag.start) < 4) return;
		choose(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to), false);
	});
	const stop = e => {
		if (!drag) return;
		const moved = Math.abs(view.at(e)[0] - drag.start) >= 4, { from, to } = drag;
		drag = null;
		if (moved) choose(Math.min(from, to), Math.max(from, to));
		else state.set("time", null);
		state.changed();
	};
	view.canvas.addEventListener("pointerup", stop);
	view.canvas.addEventListener("pointercancel", () => drag = null);
	return {
		...view,
		drawn: () => ({
			bins,
			end,
			parts: parts.map(p => ({
				name: p.label,
				samples: Array.from({ length: bins }, (_, b) => samples(p, b)).reduce((a, c) => a + c, 0)
			}))
		})
	};
}
