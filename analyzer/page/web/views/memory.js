// SPDX-License-Identifier: MIT
// The view of memory has addresses over time: a raster of one region at the resolution of the screen, down to single bytes, or the
// distance of each access from the one before.  It shows each component by itself, the regions, and strides.
import { h, shown } from "../dom.js";
import { chart } from "../chart.js";
import { brush } from "../brush.js";
import { BOTTOM, drawTime, endOf } from "../activity.js";
import { pixels } from "../shade.js";
import { Points, rasterize } from "../raster.js";
import { hex } from "../regions.js";
import { addressPoints, addressRows } from "../addressrows.js";
import { memoryMoves } from "../memorymoves.js";
import { ORDERS, REGIONS, STRIDES, regionRows, strideRows } from "../memorytables.js";
import { signed, ticks, unscale } from "../deltas.js";
import { multiples } from "../multiples.js";
import { tablebox } from "../tablebox.js";
import { bytes, count, percent, seconds } from "../format.js";

const HEIGHT = 380, TOP = 6;

let page, note, hint, said, mode, select, out, picture, each, tables, strideTable, box;
let regions = [], rows = null, accesses = null, orders = null, withAddress = [];
let grid = null, list = [], strides = [], end = 1, width = 640, left = 110, cell = 1, rubber = null;
let colour = new Map(), far = 0, passed = 0, owners = null, known = null, moves;
const points = new Points(0); // the points that the pictures show

const low = text => (text === undefined ? 0n : BigInt(text));

// Follows the rows with an address that pass all filters but those of `except`, in the order of time.  Returns their number.
function follow(...except) {
	const { fails, mask, first, end: last } = page.data[0].table.passing(except), list = accesses.column("list"), { row } = rows;
	let nr = 0;
	for (let n = 0; n < rows.nr; n++) if (row[n] >= first && row[n] < last && !(fails[row[n]] & mask)) list[nr++] = n;
	accesses.follow(nr);
	return nr;
}

// Not all events have addresses.  If the chosen one has at most a tenth as many as the event with the most, the view offers that one.
function offer() {
	const { state, facts } = page, now = state.filters.event?.values[0], best = withAddress.indexOf(Math.max(...withAddress));
	hint.hidden = now === undefined || best === now || withAddress[now] * 10 > withAddress[best];
	if (hint.hidden) return;
	hint.replaceChildren(
		`${count(withAddress[now])} samples of ${shown(facts.events[now].name, 60)} have an address; ` +
			`${count(withAddress[best])} of ${shown(facts.events[best].name, 60)} have one. `,
		h("button", { onclick: () => state.set("event", { values: [best] }) }, `Show ${shown(facts.events[best].name, 60)}`)
	);
}

// Says how many of the samples that pass have an address, and can be shown.
function say() {
	const all = owners.total[0];
	const list = accesses.column("list"), share = accesses.column("share"), part = accesses.column("part");
	let nr = 0;
	known = new Float64Array(page.dimensions.get(page.dimensions.main).nr);
	for (let i = 0; i < passed; i++) known[part[list[i]]] += share ? share[list[i]] : 1;
	for (const samples of known) nr += samples;
	const of = all > 0 ? nr / all : 0;
	said.textContent = !(all > 0) ? "" : `${count(nr)} of ${count(all)} samples that pass (${percent(of)}) have an address.` +
		(of < 0.5 && nr > 0 ? " Shares are of these alone: instructions that have none are left out." : "");
}

// Returns the region that is chosen, else the one that the chosen addresses are in, else the one with the most samples.
function region() {
	const { state } = page, filter = state.filters.address, chosen = regions[Number(state.option("region"))];
	const inside = r => !filter || low(filter.from) < r.end && low(filter.to) > r.begin;
	return chosen && inside(chosen) ? chosen : regions.find(inside) ?? chosen ?? regions[0];
}

function extent() {
	const { time, address } = page.state.filters, r = region();
	let begin = r.begin, last = r.end;
	if (address) [begin, last] = [low(address.from) > begin ? low(address.from) : begin,
		low(address.to) < last ? low(address.to) : last];
	if (last <= begin) [begin, last] = [r.begin, r.end];
	return { from: time?.from ?? 0, to: Math.min(end, time?.to ?? end), begin, low: Number(begin - r.begin),
		bytes: Number(last - begin) };
}

function colourOf(part) {
	const { dimensions, colours } = page, dimension = dimensions.get(dimensions.main);
	if (!colour.has(part)) {
		const hexes = colours.of(dimensions.main, dimension.values[part]);
		colour.set(part, [1, 3, 5].map(i => parseInt(hexes.slice(i, i + 2), 16)));
	}
	return colour.get(part);
}

const apart = () => page.state.option("memory") === "deltas";

// Returns the extent that the pictures show.
function shownExtent() {
	const e = extent();
	return apart() ? { from: e.from, to: e.to, low: 0, bytes: 2 * far } : e;
}

function draw(pen, w) {
	width = w;
	left = w < 600 ? 84 : 132;
	const wide = Math.max(10, Math.floor(w - left)), e = shownExtent();
	colour = new Map();
	grid = rasterize(points, e, nr => {
		cell = nr < 2000 ? 3 : nr < 20000 ? 2 : 1; // Few points are drawn larger.
		return [Math.max(1, Math.floor(wide / cell)), Math.floor(HEIGHT / cell)];
	});
	pen.image(left, TOP, grid.width * cell, grid.height * cell, grid.width, grid.height,
		pixels(grid.counts, grid.width, grid.height, i => colourOf(grid.part[i])));
	pen.line(left - 0.5, TOP, left - 0.5, TOP + HEIGHT, pen.theme.line);
	for (const [at, text] of apart() ? ticks(far) : addressTicks(e, w)) {
		const y = TOP + HEIGHT - at * HEIGHT;
		pen.line(left - 5, y, left, y, pen.theme.line);
		if (apart()) pen.line(left, y, w, y, pen.theme.line, 1, [2, 4]);
		pen.text(left - 8, Math.max(TOP + 6, Math.min(TOP + HEIGHT - 6, y)), text, {
			size: 11, align: "right", fill: pen.theme.quiet
		});
	}
	drawTime(pen, { x: left, y: TOP + HEIGHT, width: wide, from: e.from, end: e.to });
	if (rubber) pen.rect(rubber[0], rubber[1], rubber[2] - rubber[0], rubber[3] - rubber[1], pen.theme.accent,
		{ opacity: 0.2, stroke: pen.theme.accent });
	if (!grid.cells) pen.text(left + wide / 2, TOP + HEIGHT / 2, "No samples with addresses here pass the filters.",
		{ align: "center", fill: pen.theme.quiet });
}

const addressTicks = (e, w) => [0, 1, 2, 3, 4].map(i => {
	const address = e.begin + BigInt(Math.floor(e.bytes * i / 4));
	return [i / 4, w < 600 ? `+${bytes(Number(address - region().begin))}` : hex(address)];
}).filter(([, text], i, all) => !i || text !== all[i - 1][1]); // Marks of a range of a few bytes may have the same text.
const timeAt = (x, e) => e.from + Math.max(0, Math.min(1, (x - left) / (width - left))) * (e.to - e.from);
const byteAt = (y, e) => Math.max(0, Math.min(1, (TOP + HEIGHT - y) / HEIGHT)) * e.bytes;

function tip(x, y) {
	const e = extent(), gx = Math.floor((x - left) / cell), gy = Math.floor((TOP + HEIGHT - y) / cell), { dimensions } = page,
		dimension = dimensions.get(dimensions.main);
	if (!grid || gx < 0 || gy < 0 || gx >= grid.width || gy >= grid.height) return null;
	const at = gx * grid.height + gy;
	if (apart()) return [`about ${signed(unscale((gy + 0.5) / grid.height * 2 * far - far))} from the access before`,
		seconds(timeAt(x, e), (e.to - e.from) / width), `${count(grid.counts[at])} samples`,
		grid.counts[at] > 0 ? `mostly ${shown(dimension.label(dimension.values[grid.part[at]]), 60)}` : null].filter(Boolean);
	const begin = e.begin + BigInt(Math.floor(gy / grid.height * e.bytes)), per = e.bytes / grid.height;
	return [per <= 1 ? hex(begin) : `${hex(begin)}, ${bytes(Math.ceil(per))} a row`, seconds(timeAt(x, e), (e.to - e.from) / width),
		`${count(grid.counts[at])} samples`,
		grid.counts[at] > 0 ? `mostly ${shown(dimension.label(dimension.values[grid.part[at]]), 60)}` : null].filter(Boolean);
}

function drag(from, to, e, done) {
	const x = [from[0], to[0]].sort((a, b) => a - b), y = [from[1], to[1]].sort((a, b) => a - b), at = extent();
	rubber = [Math.max(left, x[0]), Math.max(TOP, y[0]), x[1], Math.min(TOP + HEIGHT, y[1])];
	if (!done) return picture.draw();
	rubber = null;
	if (apart()) return moves.zoomTime(timeAt(x[0], at), timeAt(x[1], at));
	const below = byteAt(y[1], at);
	moves.zoom(timeAt(x[0], at), timeAt(x[1], at), at.begin + BigInt(Math.floor(below)), byteAt(y[0], at) - below);
}

// Returns the orders of a part of the main dimension, which are made when the part is looked at.
function ordersOf(part) {
	orders ??= new Map(accesses.sums("part", page.dimensions.get(page.dimensions.main).nr).map(sum => [sum.key, sum]));
	return orders.get(part);
}

async function load() {
	({ regions, rows, withAddress, accesses } = await addressRows(page));
	select.replaceChildren(...regions.slice(0, 100).map((r, k) => h("option", { value: String(k) }, shown(r.name, 80))));
	page.state.changed(false);
}

export const memory = {
	id: "memory",
	title: "Memory",
	when: p => p.facts.columns.address?.planes > 0, // The page has this view if some sample has an address.
	mount(el, p) {
		page = p;
		box = el;
		end = endOf(page.facts);
		moves = memoryMoves(page, () => ({ extent: extent(), region: region(), regions, end, apart: apart() }));
		select = h("select", { "aria-label": "Region", onchange: () => {
			const { address, ...filters } = page.state.filters;
			page.state.options.region = select.value;
			page.state.replace(filters);
		} });
		out = h("button", {
			class: "small",
			onclick: () => moves.zoom(0, end, region().begin, Number(region().end - region().begin))
		}, "Whole region");
		mode = h("select", { "aria-label": "What is shown over time", onchange: () => page.state.option("memory", mode.value) },
			h("option", { value: "addresses" }, "addresses"),
			h("option", { value: "deltas" }, "distances from the access before")
		);
		said = h("p", { class: "note" });
		hint = h("p", { class: "note", hidden: true });
		note = h("p", { class: "note" }, "Reading the addresses…");
		tables = h("div");
		strideTable = h("div");
		picture = chart({ title: "Memory over time", name: "memory", controls: [mode, select, out], height: TOP + HEIGHT + BOTTOM,
			draw, tip, key: moves.key, cursor: x => (x < left ? "default" : "crosshair"),
			table: () => ({ columns: REGIONS, rows: list, sort: "share" }) });
		each = multiples(page, {
			points: () => ({ points, extent: shownExtent() }),
			colour: colourOf,
			columns: [
				...ORDERS(panel => ordersOf(panel.part)),
				{ key: "pages", title: "pages", type: "count", value: panel => ordersOf(panel.part)?.pages ?? null }
			],
			all: part => owners.samples(part),
			known: part => known[part]
		});
		this.parts = { each };
		brush(picture, { starts: x => x >= left, drag });
		el.append(note);
		this.ready = load();
	},
	draw() {
		if (!rows) return;
		if (!regions.length) return void (note.textContent = "No sample of this trace has an address.");
		if (!picture.el.isConnected) {
			box.replaceChildren(
				picture.el,
				each.el,
				h("section", { class: "card two-thirds" }, h("header", {}, h("h2", {}, "Regions")), tables),
				h("section", { class: "card third" }, h("header", {}, h("h2", {}, "Strides")), strideTable)
			);
			picture.el.querySelector("header").after(hint, said);
			picture.el.append(note);
		}
		const { state } = page;
		offer();
		orders = null;
		owners = state.sums(page.dimensions.main);
		if (state.filters.address) follow("address");
		else passed = follow();
		list = regionRows(accesses, regions);
		if (state.filters.address) passed = follow();
		say();
		far = addressPoints(points, {
			table: page.data[0].table, rows, accesses, passed, region: apart() ? -1 : regions.indexOf(region())
		});
		mode.value = apart() ? "deltas" : "addresses";
		select.hidden = apart();
		select.value = String(regions.indexOf(region()));
		out.hidden = !state.filters.address && !state.filters.time;
		strides = strideRows(accesses);
		tables.replaceChildren(tablebox({ name: "regions", columns: REGIONS, rows: list, sort: "share", tools: true,
			chosen: r => regions[r.k] === region(),
			click: r => {
				select.value = String(r.k);
				select.dispatchEvent(new Event("change"));
			} }).el);
		strideTable.replaceChildren(
			h("p", { class: "note" },
				"What all distances between the accesses of one instruction in one thread and region are multiples of."
			),
			tablebox({ name: "strides", columns: STRIDES, rows: strides, sort: "share", tools: true }).el
		);
		// Pictures ask how wide they are, so all elements must be in the page before they are drawn.
		picture.draw();
		each.draw();
		const e = extent();
		note.textContent = apart()
			? `${count(grid.samples)} samples. In the middle: accesses of one component in one thread that follow each other ` +
				"at most a cache line apart; far out: random ones."
			: `${count(grid.samples)} samples in ${bytes(e.bytes)}; ` +
				`a row is ${bytes(Math.max(1, Math.round(e.bytes / grid.height)))}. ` +
				"Drag to zoom; arrow keys move, + and − zoom.";
	},
	drawn() {
		return {
			mode: apart() ? "deltas" : "addresses",
			said: said.textContent,
			each: each.drawn(),
			region: region()?.name,
			samples: grid?.samples ?? 0,
			cells: grid?.cells ?? 0,
			cell,
			regions: list.map(({ name, samples, span, pages, sequential, strided, random, stride }) => ({
				name, samples, span, pages, sequential, strided, random, stride
			})),
			strides: strides.slice(0, 10).map(({ by, n }) => [by, n])
		};
	},
};
