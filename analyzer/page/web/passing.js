// SPDX-License-Identifier: MIT
// A filter becomes sets of a column's numbers, by which the sample table decides which samples pass.
/*
 * Returns a filter of the first trace's values (own: its dimension) as one of the second trace's dimension.  Its values are those of the
 * same names, as --component means them: the name alone is enough where all components of that name are chosen, since numbers that tell
 * components of one name apart may be in one of both traces only.
 */
export function inOther(filter, own, dimension) {
	const chosen = new Set(filter.values), wanted = new Set(filter.values.map(v => own.plain(v)));
	const apart = new Set(own.values.filter(v => !chosen.has(v)).map(v => own.bare(v)));
	const whole = new Set(filter.values.map(v => own.bare(v)).filter(name => !apart.has(name)));
	const passes = v => wanted.has(dimension.plain(v)) || whole.has(dimension.bare(v));
	return { ...filter, values: (dimension?.values ?? []).filter(passes) };
}

// Returns the set of a filter of a dimension's values, which has a byte for each number of the column.
export function allowed(dimension, filter, table) {
	const wanted = new Set(filter.values.map(dimension.rep)), keys = new Uint8Array(dimension.nr);
	dimension.values.forEach((v, key) => keys[key] = wanted.has(v) !== Boolean(filter.not) ? 1 : 0);
	return { column: dimension.column, allowed: dimension.map ? Uint8Array.from(dimension.map, key => keys[key]) : keys, table };
}

/*
 * Returns the sets of a search.  A sample passes if the text is in the name of its function, of its source line or of one of its
 * components, or in such a name in its call stack.  frames: {caller, function, component} of each node of the tree of stacks, or undefined.
 */
export function matching(dimensions, text, frames) {
	const wanted = text.toLowerCase();
	const hit = label => String(label).toLowerCase().includes(wanted);
	const { facts } = dimensions;
	const marked = (column, nr, ids) => {
		const out = new Uint8Array(nr);
		for (const id of ids) {
			const { map, values, plain } = dimensions.get(id);
			const found = values.map(v => v && hit(plain(v)));
			for (let i = 0; i < nr; i++) out[i] |= found[map[i]] ? 1 : 0;
		}
		return { column, allowed: out };
	};
	const sets = [
		marked("place", facts.places.ip.length, ["function", "line"]),
		marked("way", facts.ways.mode.length, facts.levels.map((_, i) => `level:${i}`))
	];
	return frames ? [...sets, { column: "stack", allowed: below(dimensions, hit, frames) }] : sets;
}

// Returns a byte for each stack, which is 1 if a function in it, or a component of any level, is a hit.  Callers have smaller numbers than
// their callees.
function below(dimensions, hit, frames) {
	const { functions, components } = dimensions.facts;
	const on = new Uint8Array(frames.caller.length), known = [false];
	const named = functions.name.map(name => hit(name));
	const leads = c => {
		if (known[c] === undefined) {
			known[c] = hit(dimensions.component(c)); // The answer for now ends a circle of links.
			known[c] ||= (components.links?.[c] ?? []).some(leads);
		}
		return known[c];
	};
	for (let i = 1; i < on.length; i++)
		on[i] = on[frames.caller[i]] || named[frames.function[i]] || leads(frames.component[i]) ? 1 : 0;
	return on;
}
