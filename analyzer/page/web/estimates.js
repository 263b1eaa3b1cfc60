// SPDX-License-Identifier: MIT
// Rows of an operator, estimated against actual: the host's counters "rows" and "estimated rows", either of which may be missing.
import { short } from "./format.js";

// Actual rows by estimated rows, or null where one of them is not known.
export function estimateError({ rows, "estimated rows": estimate }) {
	return rows === undefined || estimate === undefined ? null : Math.max(rows, 1) / Math.max(estimate, 1);
}

export function rowsText({ rows, "estimated rows": estimate }) {
	if (rows === undefined) return estimate === undefined ? "" : `est. ${short(estimate)}`;
	return estimate === undefined ? short(rows) : `${short(rows)} (est. ${short(estimate)})`;
}

// "×12 of the estimate", or "" where the estimate is right within a factor of 2.
export function errorText(counters) {
	const error = estimateError(counters);
	if (error === null || (error < 2 && error > 0.5)) return "";
	return `${error >= 1 ? "×" + short(error) : "÷" + short(1 / error)} of the estimate`;
}
