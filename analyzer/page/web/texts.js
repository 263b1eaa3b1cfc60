// SPDX-License-Identifier: MIT
// The texts of a page are those that hosts registered, which are whole, and those of source files around hot
// lines.  Instructions are of their lines.
export const baseName = path => String(path ?? "").slice(String(path ?? "").lastIndexOf("/") + 1);

// Returns whether lines of that file (as line tables name it) are in this text.  Hosts name their texts without folders, or with others.
export const isOf = (source, file) => !!source && !!file && (source.file ? source.name === file : baseName(source.name) === baseName(file));

// Returns the line of row i, or 0 where lines are left out.  (Older pages have whole texts only.)
export const lineOf = (source, i) => source.number ? source.number[i] : i + 1;

const rows = new WeakMap();

// Returns the row of a line, or -1 if the text lacks it.
export function rowOf(source, line) {
	if (!source.number) return line >= 1 && line <= source.lines.length ? line - 1 : -1;
	if (!rows.has(source)) rows.set(source, new Map(source.number.map((n, i) => [n, i])));
	return line ? rows.get(source).get(line) ?? -1 : -1;
}

// Returns the index of the level whose components are lines of the language whose functions lead, or -1 if no language leads.
export const languageLines = ({ lead_level: lead = -1, levels }) => (lead < 0 ? -1 : levels.findIndex(l => l.name === "line"));

/*
 * If the functions of a language lead (facts.lead_level), its lines are components, such as those of Python, whose time is the
 * interpreter's.  These components become the lines of its files, instead of lines of the code that was sampled. Several functions may
 * have one line, each as a component.
 */
export function useLanguageLines(facts) {
	const { components, sources } = facts, level = languageLines(facts), known = new Map();
	if (level < 0) return;
	components.level.forEach((l, v) => {
		if (l !== level) return;
		const place = components.detail[v] + components.name[v].slice(components.name[v].lastIndexOf(":"));
		known.set(place, [...(known.get(place) ?? []), v]);
	});
	for (const source of sources.filter(s => s.file)) {
		const all = source.lines.map((_, i) => known.get(`${source.name}:${lineOf(source, i)}`) ?? [0]);
		if (all.some(([v]) => v)) Object.assign(source, { of: all.map(([v]) => v), all, level });
	}
}

// Returns the sums of a line of a text as [measure, samples, weight].  rep(v): the component that component v is summed up with.
export function sumsOfLine(source, i, sums, rep) {
	const values = source.all ? [...new Set(source.all[i].map(rep))] : [source.of[i]];
	return values.filter(Boolean).map(v => sums.of(v)).reduce((a, b) => a.map((x, n) => x + b[n]), [0, 0, 0]);
}

// Returns the numbers of the texts, without those whose lines are summed up with the lines of one before, as texts of a second process are.
export function differentTexts(sources, rep) {
	const known = new Set();
	return sources.map((_, i) => i).filter(i => {
		const { name, level, of } = sources[i];
		const id = level < 0 || !of.some(Boolean) ? `${i}` : `${name} ${level} ${of.map(rep).join()}`;
		return !known.has(id) && known.add(id);
	});
}

// Returns the file of a listing's instruction, or null.  (Older pages have one file for each function.)
export const fileOfStep = (listing, i) => listing.files ? listing.files[listing.of[i]] ?? null : listing.file;

// Returns whether a place is in the function of a listing.  code is facts.code.
export function isIn(listing, place, code) {
	const same = listing.image ? code.file?.[place.code - 1] === listing.image : place.code === listing.code;

	return same && place.ip >= listing.start && place.ip < listing.start + (listing.offset[listing.offset.length - 1] ?? 0) + 16;
}
