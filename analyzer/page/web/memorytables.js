// SPDX-License-Identifier: MIT
// The columns of the tables of memory: orders of accesses, regions, and strides.
import { count } from "./format.js";
import { PAGE } from "./regions.js";

export const ORDERS = of => [
	...["sequential", "strided", "random"].map(key => ({ key, title: key, type: "share", value: r => of(r)?.[key] ?? null })),
	{ key: "stride", title: "stride", type: "count", value: r => of(r)?.stride ?? null }];
export const REGIONS = [
	{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
		{ key: "samples", title: "samples", type: "count", value: r => r.samples },
	...ORDERS(r => r),
	{ key: "span", title: "from first to last", type: "bytes", value: r => r.span },
		{ key: "pages", title: "pages", type: "count", value: r => r.pages },
	{ key: "kind", title: "kind", type: "text", narrow: true, value: r => r.kind },
		{ key: "name", title: "region", type: "text", value: r => r.name }];
export const STRIDES = [
	{ key: "share", title: "share", type: "share", value: r => r.share, bar: true },
		{ key: "n", title: "samples", type: "count", value: r => r.n },
	{ key: "by", title: "bytes", type: "text",
		value: r => (!r.by ? "(constant address, or too few samples)" : `${count(r.by)}${r.by > PAGE ? " and more" : ""}`) }];

// Returns the regions of the rows that were followed last, as rows of the table.
export function regionRows(accesses, regions) {
	const sums = accesses.sums("region", regions.length), total = sums.reduce((sum, r) => sum + r.samples, 0);
	return sums.map(sum => ({
		k: sum.key, name: regions[sum.key].name, kind: regions[sum.key].kind || "unnamed", ...sum,
		share: sum.samples / total, span: sum.high - sum.low + 1
	}));
}

// Returns the strides of the same rows.
export function strideRows(accesses) {
	const list = accesses.strides(), nr = list.reduce((sum, [, n]) => sum + n, 0);
	return list.map(([by, n]) => ({ by, n, share: n / nr }));
}
