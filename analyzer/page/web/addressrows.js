// SPDX-License-Identifier: MIT
// The rows of a trace that have an address: the regions that they are in, and what each is, as numbers that filters do not change.
import { createAccesses, numberSamples, numberStreams } from "./accesses.js";
import { becomeDistances } from "./deltas.js";
import { PAGE, regions as findRegions } from "./regions.js";

function findRows({ table, facts }) {
	const address = table.numbers("address");
	const memory = table.numbers("memory");
	const event = table.numbers("event");
	const halves = address.BYTES_PER_ELEMENT === 8 ? new Uint32Array(address.buffer, address.byteOffset, 2 * address.length) :
		Uint32Array.from({ length: 2 * address.length }, (_, i) => (i % 2 ? 0 : address[i >> 1]));
	const { list: regions, rows } = findRegions(halves, table.rows, i => memory?.[i] ?? 0, facts.memory);
	const withAddress = facts.events.map(() => 0);
	for (let n = 0; n < rows.nr; n++) withAddress[event[rows.row[n]]]++;
	return { regions, rows, withAddress };
}

// Describes each row with an address by numbers that filters do not change.
async function describe(page, { regions, rows }) {
	const { table, facts } = page.data[0], { row, nr } = rows, { column, map } = page.dimensions.get(page.dimensions.main);
	const [event, thread, place, phase, way, main] = ["event", "thread", "place", "phase", "way", column].map(name =>
		table.numbers(name)
	);
	const { share } = facts.ways;
	const numbers = new Map();
	const stream = new Uint32Array(nr);
	const shared = share.some(s => s !== 1);
	const from = regions.map(r => Number(r.begin % BigInt(PAGE)));
	// Addresses of files are those within each file, and code that was generated again may be at the same address.
	const instruction = facts.places.ip
		.map((ip, i) => `${ip} ${facts.places.image[i]}`)
		.map(id => numbers.get(id) ?? numbers.set(id, numbers.size).get(id));
	const nrStreams = numberStreams(nr, [[n => event[row[n]], facts.events.length], [n => thread[row[n]], facts.threads.tid.length],
		[n => instruction[place[row[n]]], numbers.size], [n => rows.region[n], regions.length]], stream);
	const accesses = await createAccesses({ nr, streams: nrStreams, pages: rows.nrPages, shared });
	const fill = (name, of) => {
		const to = accesses.column(name);
		for (let n = 0; n < nr; n++) to[n] = of(n);
	};
	accesses.column("stream").set(stream);
	accesses.column("page").set(rows.page);
	accesses.column("region").set(rows.region);
	fill("address", n => rows.offset[n] + from[rows.region[n]]);
	fill("phase", n => phase[row[n]]);
	fill("part", map ? n => map[main[row[n]]] : n => main[row[n]]);
	if (shared) {
		const sample = numberSamples(table.rows, i => share[way[i]]);
		fill("share", n => share[way[row[n]]]);
		fill("sample", n => sample[row[n]]);
	}
	const granule = accesses.column("granule");
	for (let n = 0; n < nr; n++) granule[stream[n]] = facts.events[event[row[n]]].granule ?? 0;
	accesses.ready();
	delete rows.page;
	return accesses;
}

// Loads the columns that are needed.  Returns the regions, the rows, the number of rows of each event, and the accesses.
export async function addressRows(page) {
	const { table } = page.data[0];
	for (const name of [
		"time", "event", "way", "place", "thread", "phase", page.dimensions.get(page.dimensions.main).column,
		"memory", "address"
	])
		await table.load(name);
	const found = findRows(page.data[0]), { regions, rows } = found;
	const accesses = await describe(page, found);
	rows.base = regions.map(r => Number(r.begin - regions[0].begin));
	return { ...found, accesses };
}

// Makes the points of a region (by number) over time and addresses, or of all regions (-1) over time and distances, of the rows that were
// followed last.  Returns the largest distance, or 0.
export function addressPoints(to, { table, rows, accesses, passed, region }) {
	const time = table.numbers("time");
	const thread = table.numbers("thread");
	const { row, offset, region: regionOf, base } = rows;
	const all = region < 0;
	const [list, share, part] = ["list", "share", "part"].map(name => accesses.column(name));
	const who = all ? new Float64Array(passed) : null;
	to.clear(passed);
	for (let i = 0; i < passed; i++) {
		const n = list[i], at = to.nr;
		if (!all && regionOf[n] !== region) continue;
		to.time[at] = time[row[n]];
		to.at[at] = all ? base[regionOf[n]] + offset[n] : offset[n];
		to.share[at] = share ? share[n] : 1;
		to.part[at] = part[n];
		if (all) who[at] = part[n] * 65536 + thread[row[n]];
		to.nr++;
	}
	return all ? becomeDistances(to, i => who[i]) : 0;
}
