// SPDX-License-Identifier: MIT
// Moves over the picture of memory: ranges of time and addresses as filters, and the keys that change them.

// now(): {extent, region, regions, end (of the time), apart (distances are shown)}, as the picture has them.
export function memoryMoves(page, now) {
	// Changes the ranges of time and addresses at once, so that one step back undoes both.
	function zoom(from, to, begin, size) {
		const { state } = page, { region: r, regions, end } = now(), filters = { ...state.filters };
		from = Math.max(0, Math.floor(from));
		to = Math.min(end, Math.max(from + 1, Math.ceil(to)));
		begin = begin < r.begin ? r.begin : begin;
		const last = begin + BigInt(Math.max(1, Math.ceil(size))) > r.end ? r.end : begin + BigInt(Math.max(1, Math.ceil(size)));
		if (from <= 0 && to >= end) delete filters.time;
		else filters.time = { from, to };
		if (begin <= r.begin && last >= r.end) delete filters.address;
		else filters.address = { from: String(begin), to: String(last) };
		state.options.region = String(regions.indexOf(r));
		state.replace(filters);
	}

	// Changes the range of time alone, since distances have no range of addresses.
	function zoomTime(from, to) {
		const { end } = now(), low = Math.max(0, Math.floor(from)), high = Math.min(end, Math.ceil(to));
		page.state.set("time", low <= 0 && high >= end ? null : { from: low, to: Math.max(low + 1, high) });
	}

	function key(e) {
		const { extent: at, apart } = now(), wide = at.to - at.from, high = at.bytes, move = (x, y, by) => {
			const size = high * by, span = wide * by;
			if (apart) return zoomTime(at.from + x * wide + (wide - span) / 2, at.from + x * wide + (wide + span) / 2), true;
			zoom(at.from + x * wide + (wide - span) / 2, at.from + x * wide + (wide + span) / 2,
				at.begin + BigInt(Math.round(y * high + (high - size) / 2)), size);
			return true;
		};
		if (e.key === "ArrowLeft") return move(-0.1, 0, 1);
		if (e.key === "ArrowRight") return move(0.1, 0, 1);
		if (e.key === "ArrowUp") return move(0, 0.1, 1);
		if (e.key === "ArrowDown") return move(0, -0.1, 1);
		if (e.key === "+") return move(0, 0, 0.5);
		if (e.key === "-") return move(0, 0, 2);
		return false;
	}

	return { zoom, zoomTime, key };
}
