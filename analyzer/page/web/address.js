// SPDX-License-Identifier: MIT
// This module reads and writes the part of the page's address behind "#", which has the view, the filters, and the options of views,
// whose keys begin with "_".

export function addressOf({ view, filters, options }) {
	const parts = new URLSearchParams({ view });
	for (const [id, f] of Object.entries(filters))
		parts.set(id, f.values ? (f.not ? "!" : "") + f.values.join(".") : f.text ?? `${f.from}-${f.to}`);
	for (const [key, value] of Object.entries(options)) parts.set("_" + key, value);
	return "#" + parts;
}

// Returns {view (undefined: none), options, filters}.  What is no filter of this page is left out.
export function readAddress(hash, isDimension) {
	const filters = {}, options = {};
	let view;
	for (const [id, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
		const range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text);
		const set = /^(!?)(\d+(?:\.\d+)*)$/.exec(text);
		if (id === "view") view = text;
		else if (id.startsWith("_")) options[id.slice(1)] = text;
		else if (id === "search" && text) filters.search = { text };
		else if (id === "time" && range) filters.time = { from: Number(range[1]), to: Number(range[2]) };
		else if (id === "address" && range) filters.address = { from: range[1], to: range[2] };
		else if (isDimension(id) && set)
			filters[id] = { values: set[2].split(".").map(Number), ...(set[1] ? { not: true } : {}) };
	}
	return { view, options, filters };
}
