// SPDX-License-Identifier: MIT
// The columns of the tables of stalls: causes, functions and their blocks.
import { causeNames } from "./stalls.js";

export const SUMMARY = [
	{ key: "low", title: "at least", type: "share", value: r => r.low },
	{ key: "high", title: "at most", type: "share", value: r => r.high },
	{ key: "name", title: "cause", type: "text", value: r => r.name },
	{ key: "by", title: "known by", type: "text", value: r => r.by }
];

export const functionColumns = (page, judged) => [
	{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
	{ key: "samples", title: "samples", type: "count", value: r => r.samples },
	...(judged.stalls
		? [
				{
					key: "stalled", title: "stalled", type: "share",
					value: r => (r.loss.cycles > 0 ? r.loss.stall / r.loss.cycles : null)
				}
			]
		: []),
	{ key: "name", title: "function", type: "text", value: r => (r.f.image ? `${r.f.name}  ${r.f.image}` : r.f.name) },
	...(judged.stalls
		? [{ key: "causes", title: "causes, of the function", type: "text", narrow: true, value: r => causeNames(page, r.loss) }]
		: [])
];

// rows: all blocks of the function.
export function blockColumns(page, { unit, stalls, measured }, rows) {
	const per = b => (b.executions > 0 ? b.cycles / b.executions : null), time = unit === "ns";
	return [
		{ key: "share", title: "share", type: "share", value: b => b.measure / (measured || 1), bar: true },
		{ key: "samples", title: "samples", type: "count", value: b => b.samples },
		{ key: "offset", title: "block", type: "text", value: b => `+${b.offset.toString(16)}` },
		{ key: "instructions", title: "insns", type: "count", value: b => b.insns },
		...(rows.some(b => b.class !== null)
			? [{ key: "class", title: "class", type: "count", value: b => b.class }]
			: []),
		...(rows.some(b => b.executions !== null)
			? [
					{ key: "executions", title: "executions", type: "count", value: b => b.executions },
					{
						key: "executions_state", title: "by", type: "text",
						narrow: true,
						value: b => (b.executions === null ? "" : b.state)
					},
					{
						key: "per_execution",
						title: `${time ? "time" : unit}/exec`,
						type: time ? "duration" : "number", value: per
					},
					{
						key: "per_instruction",
						title: unit === "cycles" ? "CPI" : `${time ? "time" : unit}/insn`,
						type: time ? "duration" : "number",
						value: b => (b.executions > 0 ? per(b) / b.insns : null)
					}
				]
			: []),
		...(stalls
			? [
					{
						key: "best", title: "best", type: "number",
						value: b => (b.known ? b.best / b.executions / b.insns : null)
					},
					{
						key: "stalled", title: "stalled", type: "share",
						value: b => (b.known ? b.stall / b.cycles : null)
					},
					{
						key: "causes", title: "causes", type: "text",
						narrow: true, value: b => (b.known ? causeNames(page, b) : "")
					}
				]
			: [])
	];
}
