// SPDX-License-Identifier: MIT
// Users add columns by formulas of numbers, other columns by key or by "title", + - * / and parentheses.  The page forbids eval, so
// formulas are parsed here.
const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|"([^"]*)"|([A-Za-z_]\w*)|([-+*/()]))/y;

function tokens(text) {
	const list = [];
	TOKEN.lastIndex = 0;
	while (TOKEN.lastIndex < text.trimEnd().length) {
		const at = TOKEN.lastIndex, m = TOKEN.exec(text);
		if (!m) throw new Error(`“${text.slice(at).trim().slice(0, 20)}” is no number, column or operator`);
		list.push(m[1] !== undefined ? { number: Number(m[1]) } : m[4] ? { sign: m[4] } : { name: m[2] ?? m[3] });
	}
	return list;
}

// Returns a function from a row to its number, or throws an error with a sentence.
export function formula(text, columns) {
	const list = tokens(text);
	let at = 0;
	const next = sign => list[at]?.sign === sign && ++at;
	function value() {
		const t = list[at++];
		if (t?.number !== undefined) return () => t.number;
		if (t?.name !== undefined) {
			const c = columns.find(x => x.key === t.name || x.title.toLowerCase() === t.name.toLowerCase());
			if (!c || c.type === "text")
				throw new Error(
					`there is no column of numbers “${t.name}”: ${columns
						.filter(x => x.type !== "text")
						.map(x => x.key)
						.join(", ")}`
				);
			return row => c.value(row) ?? NaN;
		}
		if (t?.sign === "-") {
			const of = value();
			return row => -of(row);
		}
		if (t?.sign === "(") {
			const inner = sum();
			if (!next(")")) throw new Error("a parenthesis is not closed");
			return inner;
		}
		throw new Error("the formula ends too early");
	}
	function product() {
		let left = value();
		for (;;) {
			const a = left;
			if (next("*")) { const b = value(); left = row => a(row) * b(row); }
			else if (next("/")) { const b = value(); left = row => a(row) / b(row); }
			else return left;
		}
	}
	function sum() {
		let left = product();
		for (;;) {
			const a = left;
			if (next("+")) { const b = product(); left = row => a(row) + b(row); }
			else if (next("-")) { const b = product(); left = row => a(row) - b(row); }
			else return left;
		}
	}
	const made = sum();
	if (at < list.length) throw new Error("something stands behind the formula's end");
	return made;
}

// Tables with these columns offer these formulas, with their meanings.  (`tailor diff --expr` has those of two traces.)
const OFFERED = [
	["total - share", "in what it called"],
	["calls_out / executions", "calls of one execution"],
	["calls_in / executions", "calls in, of its executions"],
	["calls / site_calls", "part of the site's calls"],
	["samples / executions", "samples an execution"],
	["samples / pages", "samples a page"],
	["executions_b - 2 * executions_a", "executions beyond twice those of the first"],
	["b / executions_b - a / executions_a", "share of one execution, second and first"],
	["b - 2 * a", "more than twice the share"],
	["b / a", "second by first"]];

// Returns [[formula, meaning]] of the formulas that the columns allow, the table's own (more) first.
export function offered(columns, more = []) {
	return [...more, ...OFFERED].filter(([text]) => {
		try {
			return formula(text, columns);
		} catch {
			return false;
		}
	});
}
