// SPDX-License-Identifier: MIT
// This module draws the basic blocks of a function as a graph, in which boxes show heat, and arcs show how often they ran.
import { chart } from "./chart.js";
import { arcFrequencies } from "./causes.js";
import { heat } from "./colours.js";
import { short } from "./format.js";

// The least width has room for a block's name and its number of instructions.
const NODE_H = 52, GAP = 16, ROW = 88, MARGIN = 28, SHOWN = 80, LEAST_W = 116;

// now() returns {f (facts of a function), blocks (numbers of each), share(b), lines(b) (a box's texts), chosen (a block, or -1)}.
// A click calls choose(b).
export function blockGraph(page, { now, choose }) {
	let boxes = [], arcs = [], height = 100, left = 0;

	// A block's row is the longest way to it from the entry.  Jumps backwards do not count.
	function place(w) {
		const { f, blocks } = now();
		boxes = [];
		arcs = [];
		if (!f) return;
		const kept = f.offset
			.map((_, b) => b)
			.sort((a, b) => blocks[b].measure - blocks[a].measure || a - b)
			.slice(0, SHOWN)
			.sort((a, b) => a - b);
		left = f.offset.length - kept.length;
		const depth = new Map(), rows = [], all = arcFrequencies(f, blocks.map(b => b.executions));
		for (const b of kept)
			depth.set(
				b,
				Math.max(
					0,
					...all.filter(a => a.to === b && a.from < b && depth.has(a.from)).map(a => depth.get(a.from) + 1)
				)
			);
		for (const b of kept) (rows[depth.get(b)] ??= []).push(b);
		// A row has as many boxes as can be read.
		const side = Math.min(70, w * 0.1), fits = Math.max(1, Math.floor((w - 2 * side + GAP) / (LEAST_W + GAP)));
		const used = rows
			.filter(Boolean)
			.flatMap(row =>
				Array.from({ length: Math.ceil(row.length / fits) }, (_, i) => row.slice(i * fits, (i + 1) * fits))
			);
		const most = Math.max(1, ...used.map(r => r.length));
		const wide = Math.min(230, (w - 2 * side - (most - 1) * GAP) / most);
		used.forEach((row, r) =>
			row.forEach((b, i) =>
				boxes.push({
					b, row: r, w: wide, x: w / 2 + (i - (row.length - 1) / 2) * (wide + GAP),
					y: MARGIN + r * ROW + NODE_H / 2
				})
			)
		);
		const at = new Map(boxes.map(x => [x.b, x]));
		arcs = all.filter(a => at.has(a.from) && at.has(a.to)).map(a => ({ ...a, from: at.get(a.from), to: at.get(a.to) }));
		height = 2 * MARGIN + used.length * ROW - (ROW - NODE_H) + (left ? 20 : 0);
	}
	function draw(pen, w) {
		place(w);
		const { share, lines, chosen } = now();
		const top = Math.max(1e-9, ...boxes.map(x => share(x.b)));
		const often = Math.max(1, ...arcs.map(a => a.count ?? 0));
		arcs.forEach((a, i) => {
			const width = a.count === null ? 1 : 1 + 4 * Math.log10(1 + a.count) / Math.log10(1 + often);
			const out = a.from.y + NODE_H / 2;
			const into = a.to.y - NODE_H / 2;
			const back = a.to.y <= a.from.y;
			const side = back ? 1 : a.to.row > a.from.row + 1 ? -1 : 0;
			const x1 = a.from.x + side * a.from.w * 0.3;
			const x2 = a.to.x + side * a.to.w * 0.3;
			// Jumps backwards go round on the right, and jumps over other blocks on the left.
			const [first, last] = [a.from.row, a.to.row].sort((p, q) => p - q);
			const between = boxes.filter(x => x.row >= first && x.row <= last);
			const edge = side * Math.max(...between.map(x => side * x.x + x.w / 2));
			const far = Math.max(4, Math.min(w - 4, edge + side * (18 + 9 * (i % 4))));
			pen.path(
				side
					? `M${x1},${out}C${x1},${out + 22} ${far},${out + 22} ${far},${(out + into) / 2}` +
							`C${far},${into - 22} ${x2},${into - 22} ${x2},${into}`
					: `M${x1},${out}C${x1},${(out + into) / 2} ${x2},${(out + into) / 2} ${x2},${into}`,
				{ stroke: a.count === 0 ? pen.theme.line : pen.theme.quiet, width, opacity: 0.55 }
			);
			pen.path(`M${x2 - 4},${into - 7}L${x2},${into}L${x2 + 4},${into - 7}Z`, { fill: pen.theme.quiet });
			if (a.count === null) return;
			const text = short(Math.round(a.count));
			const wide = pen.width(text, 10.5);
			const x = side ? Math.max(wide / 2 + 2, Math.min(w - wide / 2 - 2, far)) : (x1 + x2) / 2;
			const y = (out + into) / 2;
			pen.rect(x - wide / 2 - 2, y - 7, wide + 4, 14, pen.theme.card, { opacity: 0.9 });
			pen.text(x, y, text, { size: 10.5, align: "center", fill: pen.theme.quiet });
		});
		for (const box of boxes) {
			const x = box.x - box.w / 2, y = box.y - NODE_H / 2, [first, ...others] = lines(box.b, box.w);
			pen.rect(x, y, box.w, NODE_H, pen.theme.card, { stroke: pen.theme.line });
			pen.rect(x, y, box.w, NODE_H, heat(share(box.b) / top), {
				stroke: box.b === chosen ? pen.theme.accent : pen.theme.line
			});
			if (box.b === chosen) pen.rect(x - 1, y - 1, box.w + 2, NODE_H + 2, null, { stroke: pen.theme.accent });
			pen.text(x + 7, y + 11, first, { size: 11.5, bold: true, most: box.w - 12 });
			others.slice(0, 2).forEach((t, i) => pen.text(x + 7, y + 26 + 15 * i, t, { size: 11, most: box.w - 12 }));
		}
		if (left > 0)
			pen.text(w / 2, height - 9, `${left} colder blocks are in the table`, {
				size: 11, align: "center", fill: pen.theme.quiet
			});
	}
	const hit = (x, y) => boxes.find(b => Math.abs(x - b.x) <= b.w / 2 && Math.abs(y - b.y) <= NODE_H / 2);
	const view = chart({
		title: "Blocks",
		name: "blocks",
		height: w => (place(w), Math.max(70, height)),
		draw,
		tip: (x, y) => hit(x, y) && now().lines(hit(x, y).b, 1000),
		click: (x, y) => hit(x, y) && choose(hit(x, y).b),
		table: () => ({
			columns: [
				{ key: "from", title: "from block", type: "text", value: a => `+${now().f.offset[a.from.b].toString(16)}` },
				{ key: "to", title: "to block", type: "text", value: a => `+${now().f.offset[a.to.b].toString(16)}` },
				{ key: "count", title: "executions", type: "count", value: a => a.count },
				{ key: "share", title: "share of the block", type: "share", value: a => now().share(a.from.b) }
			],
			rows: arcs
		})
	});
	return {
		...view,
		drawn: () => ({
			boxes: boxes.map(x => ({ block: x.b, share: now().share(x.b) })),
			arcs: arcs.map(a => ({ from: a.from.b, to: a.to.b, count: a.count === null ? null : Math.round(a.count) }))
		})
	};
}
