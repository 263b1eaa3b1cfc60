// SPDX-License-Identifier: MIT
// The table as a page has it: node table.js TABLE.wasm FILE..., each as `columns` wrote it (FILE.bin, FILE.json): filters and groups of
// this build must be the other one's, bit for bit and in the same order.
"use strict";
const fs = require("fs");
const [wasm, ...files] = process.argv.slice(2);
const module_ = new WebAssembly.Module(fs.readFileSync(wasm));
const imports = WebAssembly.Module.imports(module_);
if (imports.length) throw new Error("expected no imports, got " + JSON.stringify(imports));
const x = new WebAssembly.Instance(module_).exports;
let groups = 0, bad = 0;

function expect(what, expected, actual) {
	if (JSON.stringify(expected) === JSON.stringify(actual)) return;
	if (bad++ < 5)
		console.log(`${what}: expected ${JSON.stringify(expected).slice(0, 300)}, got ${JSON.stringify(actual).slice(0, 300)}`)
}
function taken(pointer) {
	if (!pointer) throw new Error("no memory");
	return pointer >>> 0;
}
const bytes = (at, nr) => new Uint8Array(x.memory.buffer, at >>> 0, nr);
const words = (at, nr) => Array.from(new Uint32Array(x.memory.buffer, at >>> 0, nr));
const bits = (at) => Array.from(new BigUint64Array(x.memory.buffer, at >>> 0, 6), (b) => b.toString(16).padStart(16, "0"));

function load(file, told) {
	const data = fs.readFileSync(file + ".bin"), n = told.rows, table = taken(x.table_create(n, told.levels));
	let at = 0;
	for (let w = 0; w < 5; w++, at += 8 * n) bytes(taken(x.table_wide(table, w)), 8 * n).set(data.subarray(at, at + 8 * n));
	for (let c = 0; at < data.length; c++, at += 4 * n) bytes(taken(x.table_column(table, c)), 4 * n).set(data.subarray(at, at + 4 * n))
	expect(file + ": bytes", data.length, at);
	return table;
}

for (const file of files) {
	const told = JSON.parse(fs.readFileSync(file + ".json"));
	const mark = x.memory_mark(), table = load(file, told);
	const filters = told.filters.map((f, i) => {
		const filter = taken(x.filter_create(BigInt(f.from), BigInt(f.to)));
		for (const c of f.conditions) {
			let allowed = 0;
			if (c.allowed) {
				allowed = taken(x.memory_take(c.allowed.length));
				bytes(allowed, c.allowed.length).set(c.allowed);
			}
			if (!(c.allowed ? x.filter_set(filter, c.column, allowed, c.allowed.length, c.not) :
				x.filter_range(filter, c.column, c.low, c.high, c.not))) throw new Error("too many conditions");
		}
		const nr = x.filter_select(filter, table) >>> 0;
		expect(`${file}: rows that pass filter ${i}`, f.rows, nr);
		return [taken(x.filter_rows(filter)), nr];
	});
	for (const g of told.groups) {
		const before = x.memory_mark(), keys = taken(x.memory_take(4 * g.keys.length));
		new Uint32Array(x.memory.buffer, keys, g.keys.length).set(g.keys);
		const group = taken(x.group_create(keys, g.keys.length, BigInt(told.origin), BigInt(told.bin)));
		if (!x.group_rows(group, table, ...filters[g.filter])) throw new Error("no memory");
		const nr = x.group_nr(group) >>> 0
		const values = words(x.group_values(group), nr * g.keys.length)
		const sums = x.group_sums(group) >>> 0
		const got = [];
		for (let i = 0; i < nr; i++) got.push([values.slice(i * g.keys.length, (i + 1) * g.keys.length), ...bits(sums + 48 * i)]);
		expect(`${file}: groups by ${g.keys} with filter ${g.filter}`, g.groups, got);
		expect(`${file}: total by ${g.keys} with filter ${g.filter}`, g.total, [0, ...bits(x.group_total(group))]);
		groups += nr;
		x.memory_release(before);
	}
	x.memory_release(mark);
}
if (groups < 1000) throw new Error("expected at least 1000 groups, got " + groups);
console.log(`${groups} groups of ${files.length} tables are the same in both builds`);
process.exit(bad ? 1 : 0);
