// SPDX-License-Identifier: MIT
// This module formats numbers, durations, sizes and shares for people.
const group = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const percent = (part, digits = 1) => Number.isFinite(part) ? (100 * part).toFixed(digits) + " %" : "–";

export function count(n) {
	if (!Number.isFinite(n)) return "–";
	return Math.abs(n - Math.round(n)) < 0.05 || n >= 1000 ? group.format(n) : n.toFixed(1);
}

const three = n => Math.abs(n) >= 99.95 ? n.toFixed(0) : Math.abs(n) >= 9.995 ? n.toFixed(1) : n.toFixed(2);

export function short(n) {
	if (!Number.isFinite(n)) return "–";
	for (const [of, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
		if (Math.abs(n) >= of) return three(n / of) + " " + unit;
	return Number.isInteger(n) ? String(n) : n.toPrecision(3);
}

export function duration(ns) {
	if (!Number.isFinite(ns)) return "–";
	for (const [of, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
		if (Math.abs(ns) >= of) return three(ns / of) + " " + unit;
	return ns.toFixed(0) + " ns";
}

// Seconds have as many digits as an axis of such steps needs.
export function seconds(us, step) {
	const digits = step ? Math.max(0, Math.min(6, 6 - Math.floor(Math.log10(step)))) : 3;
	return (us / 1e6).toFixed(digits) + " s";
}

// The steps of an axis are 1, 2 or 5 times a power of ten.
export function ticks(from, to, most) {
	const raw = (to - from) / Math.max(1, most);
	if (!(raw > 0)) return { step: 1, at: [from] };
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = power * ([1, 2, 5].find(m => m * power >= raw) ?? 10);
	const at = [];
	for (let t = Math.ceil(from / step) * step; t <= to + step * 1e-9; t += step) at.push(t);
	return { step, at };
}

export const measure = (value, unit) => unit === "ns" ? duration(value) : short(value) + (unit && unit !== "samples" ? " " + unit : "");

export const bytes = n => {
	for (const [of, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
		if (n >= of) return three(n / of) + " " + unit;
	return n + " B";
};

// Returns the 95 % interval of a share, for a sum that is worth so many samples (E. B. Wilson, JASA 22, 1927).
export function interval(share, evidence) {
	if (!(evidence > 0)) return [0, 1];
	const z = 1.96, n = evidence, middle = (share + z * z / (2 * n)) / (1 + z * z / n);
	const half = z * Math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
