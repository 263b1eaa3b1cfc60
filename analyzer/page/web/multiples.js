// SPDX-License-Identifier: MIT
// The busiest components have a picture each, on the same axes, which shows what they touch and how.
import { chart } from "./chart.js";
import { drawTime, BOTTOM } from "./activity.js";
import { pixels } from "./shade.js";
import { rasterizeParts } from "./raster.js";
import { count, percent } from "./format.js";
import { shown } from "./dom.js";

const MOST = 9, TITLE = 18, HEIGHT = 96, GAP = 12, CELL = 2;

/*
 * points() returns {points, extent} of the large picture (see raster.js).  all(part) and known(part) are the number of the part's
 * samples, and of those with an address.  colour(part) is [r, g, b].  columns are further ones of the table, whose rows have a part.
 */
export function multiples(page, { points, all, known, colour, columns: more }) {
	const { state, dimensions } = page, dimension = dimensions.get(dimensions.main);
	let panels = [], columns = 1, wide = 100;

	function place(w) {
		columns = w < 560 ? 1 : w < 900 ? 2 : 3;
		wide = Math.floor((w - (columns - 1) * GAP) / columns);
		const { points: list, extent } = points();
		panels = rasterizeParts(list, extent, Math.floor(wide / CELL), Math.floor(HEIGHT / CELL), MOST, dimension.nr);
		panels.forEach((panel, i) =>
			Object.assign(panel, {
				x: (i % columns) * (wide + GAP),
				y: Math.floor(i / columns) * (TITLE + HEIGHT + BOTTOM + GAP)
			})
		);
		return Math.max(1, Math.ceil(panels.length / columns)) * (TITLE + HEIGHT + BOTTOM + GAP);
	}
	const label = panel => shown(dimension.label(dimension.values[panel.part]), 60);
	const part = panel => known(panel.part) / (all(panel.part) || 1);
	const says = panel => `${percent(part(panel))} of ${count(all(panel.part))} have an address`;
	function draw(pen, w) {
		const { extent } = points(), chosen = state.filters[dimensions.main]?.values;
		for (const panel of panels) {
			const { x, y, width, height } = panel;
			const off = chosen && !chosen.includes(dimension.values[panel.part]);
			const text = says(panel);
			const room = wide - pen.width(text, 11) - 24;
			pen.rect(x, y + 4, 10, 10, `rgb(${colour(panel.part).join()})`);
			pen.text(x + 14, y + 9, label(panel), {
				size: 12, bold: true, most: room, fill: off ? pen.theme.quiet : undefined
			});
			pen.text(x + wide, y + 9, text, { size: 11, align: "right", fill: pen.theme.quiet });
			pen.rect(x, y + TITLE, wide, HEIGHT, null, { stroke: pen.theme.line });
			pen.image(
				x,
				y + TITLE,
				width * CELL,
				height * CELL,
				width,
				height,
				pixels(panel.counts, width, height, () => colour(panel.part), off ? 0.1 : 0.5)
			);
			drawTime(pen, { x, y: y + TITLE + HEIGHT, width: wide, from: extent.from, end: extent.to });
		}
		if (!panels.length)
			pen.text(w / 2, 20, "No samples with addresses here pass the filters.", { align: "center", fill: pen.theme.quiet });
	}
	const hit = (x, y) => panels.find(p => x >= p.x && x < p.x + wide && y >= p.y && y < p.y + TITLE + HEIGHT);
	const view = chart({
		title: "Each by itself",
		name: "memory-by-component",
		height: w => place(w),
		draw,
		tip: (x, y) => {
			const p = hit(x, y);
			return (
				p && [
					dimension.label(dimension.values[p.part]),
					`${count(known(p.part))} of ${count(all(p.part))} samples (${percent(part(p))}) have an address`,
					`${count(p.samples)} are in this picture`
				]
			);
		},
		click: (x, y, e) => {
			const p = hit(x, y);
			if (p) state.toggle(dimensions.main, dimension.values[p.part], e.shiftKey);
		},
		spots: () => panels.map(p => ({ x: p.x, y: p.y, w: wide, h: TITLE + HEIGHT })),
		ordered: true,
		table: () => ({
			rows: panels,
			sort: "samples",
			columns: [
				{ key: "name", title: dimension.title, type: "text", value: label },
				{ key: "samples", title: "in the picture", type: "count", value: p => p.samples },
				{ key: "known", title: "with an address", type: "count", value: p => known(p.part) },
				{ key: "all", title: "samples", type: "count", value: p => all(p.part) },
				...more,
				{ key: "share", title: "share with an address", type: "share", value: part }
			]
		})
	});
	return { ...view, drawn: () => panels.map(p => ({ name: label(p), here: p.samples, samples: known(p.part), all: all(p.part) })) };
}
