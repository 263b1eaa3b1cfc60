// SPDX-License-Identifier: MIT
/*
 * Memory that samples touched, as regions: what has a name, and for the rest runs of addresses no further apart than 64 MiB.  Addresses are pairs of
 * 32-bit halves (low, high), as they lie in a column of 64-bit numbers.
 */
const PAGE_BITS = 20; // of a run's ends, before they are narrowed to its addresses
const GAP_PAGES = 64;

const whole = (low, high) => BigInt(high) << 32n | BigInt(low);
export const hex = (address) => `0x${address.toString(16)}`;

// halves: Uint32Array of 2 * nr; memory: number => which named memory (0: none); named: [{name, kind, address, bytes} or null].
export function regions(halves, nr, memory, named) {
	const runs = new Map(); // memory => page => samples
	for (let i = 0; i < nr; i++) {
		const low = halves[2 * i], high = halves[2 * i + 1];
		if (!low && !high)
			continue;
		const of = memory(i), page = high * (1 << 32 - PAGE_BITS) + (low >>> PAGE_BITS);
		let pages = runs.get(of);
		if (!pages)
			runs.set(of, pages = new Map());
		pages.set(page, (pages.get(page) ?? 0) + 1);
	}
	const list = [];
	for (const [of, pages] of runs) {
		let run = null;
		for (const page of [...pages.keys()].sort((a, b) => a - b)) {
			if (!run || (!named[of] && page - run.last > GAP_PAGES))
				list.push(run = { memory: of, first: page, samples: 0 });
			run.last = page;
			run.samples += pages.get(page);
		}
	}
	narrow(list, halves, nr, memory);
	for (const region of list) {
		const name = named[region.memory]?.name;
		region.range = `${hex(region.begin)} to ${hex(region.end - 1n)}`;
		region.name = name || region.range;
		region.kind = named[region.memory]?.kind ?? "";
	}
	return list.sort((a, b) => b.samples - a.samples || (a.begin < b.begin ? -1 : 1));
}

// From pages to the addresses themselves.
function narrow(list, halves, nr, memory) {
	const ofPage = new Map();
	for (const region of list) {
		region.begin = whole(0xffffffff, 0xffffffff);
		region.end = 0n;
		if (!ofPage.has(region.memory))
			ofPage.set(region.memory, []);
		ofPage.get(region.memory).push(region);
	}
	// Ends are in the first and the last page of a run: only there are exact numbers needed.
	for (let i = 0; i < nr; i++) {
		const low = halves[2 * i], high = halves[2 * i + 1];
		if (!low && !high)
			continue;
		const page = high * (1 << 32 - PAGE_BITS) + (low >>> PAGE_BITS);
		for (const region of ofPage.get(memory(i))) {
			if (page !== region.first && page !== region.last)
				continue;
			const address = whole(low, high);
			if (address < region.begin)
				region.begin = address;
			if (address >= region.end)
				region.end = address + 1n;
			break;
		}
	}
}

/*
 * Strides: for each key (an instruction, or a line) the difference between an address and the one before it.  next(take): calls
 * take(key, low, high) in the order of time.  The most frequent differences first, as [bytes, count]; sequential: at most that many bytes.
 */
export function strides(each) {
	const last = new Map(), counts = new Map();
	let nr = 0;
	each((key, low, high) => {
		const before = last.get(key);
		if (before) {
			const bytes = (high - before[1]) * 4294967296 + (low - before[0]);
			counts.set(bytes, (counts.get(bytes) ?? 0) + 1);
			nr++
			before[0] = low;
			before[1] = high;
		} else {
			last.set(key, [low, high]);
		}
	});
	return { nr, list: [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]) };
}
