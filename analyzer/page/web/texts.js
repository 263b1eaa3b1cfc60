// SPDX-License-Identifier: MIT
// Texts of a page: those that hosts registered, whole, and those of source files, around hot lines; and which lines instructions are of.
const base = path => String(path ?? "").slice(String(path ?? "").lastIndexOf("/") + 1);

// Is a line of that file (as line tables name it) in this text?  Hosts name their texts without folders, or with others.
export const isOf = (source, file) => !!source && !!file && (source.file ? source.name === file : base(source.name) === base(file));

// The line of row i; 0: lines are left out there.  (Older pages have whole texts only.)
export const lineOf = (source, i) => source.number ? source.number[i] : i + 1;

const rows = new WeakMap();

// The row of a line; -1: it is not there.
export function rowOf(source, line) {
	if (!source.number) return line >= 1 && line <= source.lines.length ? line - 1 : -1;
	if (!rows.has(source)) rows.set(source, new Map(source.number.map((n, i) => [n, i])));
	return line ? rows.get(source).get(line) ?? -1 : -1;
}

/*
 * Functions of a language that lead (facts.lead_level) have lines of its own, which are components: of Python, say, whose time is the
 * interpreter's.  These are the lines of its files then, instead of those of the code that was sampled.
 */
export function useLanguageLines({ lead_level: lead = -1, levels, components, sources }) {
	const level = lead < 0 ? -1 : levels.findIndex(l => l.name === "line"), known = new Map();
	if (level < 0) return;
	components.level.forEach(
		(l, v) => l === level && known.set(components.detail[v] + components.name[v].slice(components.name[v].lastIndexOf(":")), v)
	);
	for (const source of sources.filter(s => s.file)) {
		const of = source.lines.map((_, i) => known.get(`${source.name}:${lineOf(source, i)}`) ?? 0);
		if (of.some(Boolean)) Object.assign(source, { of, level });
	}
}

// The file of a listing's instruction, or null.  (Older pages have one a function.)
export const fileOfStep = (listing, i) => listing.files ? listing.files[listing.of[i]] ?? null : listing.file;

// Is a place in the function of a listing?  code: facts.code.
export function isIn(listing, place, code) {
	const same = listing.image ? code.file?.[place.code - 1] === listing.image : place.code === listing.code;

	return same && place.ip >= listing.start && place.ip < listing.start + (listing.offset[listing.offset.length - 1] ?? 0) + 16;
}
