// SPDX-License-Identifier: MIT
// A pane with a text that code was generated from: its lines, with their heat, executions and owners.
import { h, shown } from "./dom.js";
import { percent } from "./format.js";
import { listing } from "./listing.js";
import { blockText, blocksOf, levelsAbove, lineTip, ownersOf, ownersText } from "./linefacts.js";
import { baseName, differentTexts, isOf, lineOf, rowOf, sumsOfLine } from "./texts.js";
import { heatEvent, heatOf, lineId, lineOwner, sumsBy } from "./lineheat.js";
import { skid } from "./causes.js";
import { countsOf, marked } from "./counts.js";

const LEAST = 0.005; // A text with a smaller share of the samples is not worth a pane.

// nr: 0, or 1 for the second text, whose level is another than that of first().  point: marks a line in all panes.
export function sourcePane(page, nr, { first, point }) {
	const { facts, state, colours, dimensions } = page, list = listing(nr ? "Second text" : "Text that code was generated from");
	const option = nr ? "text2" : "text", order = facts.sources.map((s, i) => i);
	const texts = () => differentTexts(facts.sources, v => dimensions.merged(v));
	const select = h("select", { "aria-label": "Text", onchange: () => state.option(option, select.value) });
	const note = h("p", { class: "note" });
	const el = h("section", { class: "card" }, h("header", {}, h("h2", {}, nr ? "Source" : "Text"), select), note, list.el);
	let source, before, blocks = new Map(), levels = [], share = 0;

	// Returns a line's components of the levels above, in columns.
	const owners = value => levels.map(level => ownersText(page, ownersOf(page, value).find(([l]) => l === level)?.[1] ?? []));

	// A label's line is shown without its comment, whose place the block's cost takes.
	const textOf = i => blocks.has(i) ? source.lines[i].replace(/:\s+;.*$/, ":") : source.lines[i].replaceAll("\t", "    ");

	// The second pane has another level than the first: IR beside a script, or a source file beside IR.
	const other = () => nr ? order.find(i => facts.sources[i].level !== first().source.level) ?? order[nr] : order[0];
	const chosen = () => facts.sources[Number(state.option(option) ?? -1)] ?? facts.sources[other()] ?? facts.sources[0];
	function compute(s) {
		const id = lineId(s), sums = sumsBy(page, id), counts = s.level >= 0 ? countsOf(page) : null;
		const at = i => sumsOfLine(s, i, sums, v => dimensions.merged(v));
		const heat = s.of.map((v, i) => {
			const [measure, , weight] = at(i);
			return v ? heatOf(page, counts?.executions(v)?.count, measure, weight) : 0;
		});
		const top = Math.max(1e-9, ...heat);
		return {
			sums,
			hottest: Math.max(0, heat.findLastIndex(x => x >= top)),
			part: i => heat[i] / top,
			share: i => at(i)[0] / (sums.total || 1),
			all: s.of.reduce((a, _, i) => a + at(i)[0], 0)
		};
	}
	function draw() {
		order.splice(
			0,
			order.length,
			...texts()
				.map(i => [i, compute(facts.sources[i]).all])
				.sort((a, b) => b[1] - a[1])
				.map(([i]) => i)
		);
		source = chosen();
		const now = compute(source), id = lineId(source);
		share = now.all / (now.sums.total || 1);
		select.replaceChildren(
			...order.map(i =>
				h("option", { value: String(i) },
					shown(
						`${baseName(facts.sources[i].name) || "text"} ` +
							`(${percent(compute(facts.sources[i]).all / (now.sums.total || 1), 0)})`,
						60
					)
				)
			)
		);
		select.value = String(facts.sources.indexOf(source));
		note.textContent =
			`${percent(share)} of the samples that pass are on its lines.` +
			(source.newer ? " The file is newer than the program: its text may differ." : "") +
			(source.level >= 0 && !source.file && skid(facts, heatEvent(page))
				? ` ${skid(facts, heatEvent(page)).replace("single instruction", "line of few instructions")}`
				: "");
		blocks = source.level >= 0 && !source.file ? blocksOf(page, source, id, heatEvent(page)) : new Map();
		levels =
			source.level >= 0 && list.el.clientWidth >= 500
				? levelsAbove(page, source.of).slice(0, list.el.clientWidth < 860 ? 1 : 2)
				: [];
		const counts = countsOf(page), runs = Boolean(counts && source.level >= 0 && source.of.some(v => counts.executions(v)));
		list.set(
			{
				nr: source.lines.length,
				runs,
				row: i => ({
					runs: runs ? marked(counts.executions(source.of[i])) : "",
					number: lineOf(source, i) ? String(lineOf(source, i)) : "⋮",
					text: textOf(i),
					share: now.share(i),
					part: now.part(i),
					owners: levels.length ? (source.of[i] ? owners(source.of[i]) : levels.map(() => "")) : null,
					note: blocks.has(i) ? `${percent(blocks.get(i).share)} ${blockText(page, blocks.get(i))}` : null,
					tag:
						source.level >= 0 && lineOwner(page, source.of[i])
							? colours.of(dimensions.main, lineOwner(page, source.of[i]))
							: null
				}),
				tip: i =>
					source.of[i]
						? lineTip(page, id, source.of[i], source.lines[i].trim())
						: blocks.has(i)
							? [
									textOf(i).trim(),
									`the block: ${percent(blocks.get(i).share)} ` +
										blockText(page, blocks.get(i))
								]
							: null,
				choose: (i, e) => source.of[i] && state.toggle(id, source.of[i], e.shiftKey),
				hover: i => point(i >= 0 ? { file: source.name, line: lineOf(source, i), source } : {})
			},
			before === source,
			now.hottest
		);
		before = source;
	}
	// A file is idle if hardly any sample is in it, and the reader did not choose it.
	const idle = () => Boolean(source.file) && state.option(option) === undefined && share < LEAST;
	return {
		el,
		draw,
		list,
		kind: "text",
		idle,
		get source() {
			return source;
		},
		drawn: () =>
			[...blocks].map(([i, { share, parts }]) => ({
				line: i + 1,
				share,
				parts: parts.map(p => [dimensions.get(dimensions.main).label(p.value), p.share])
			})),
		mark: at => list.mark(new Set(at.line && (at.source === source || isOf(source, at.file)) ? [rowOf(source, at.line)] : []))
	};
}
