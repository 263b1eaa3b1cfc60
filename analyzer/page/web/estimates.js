// SPDX-License-Identifier: MIT
// This module compares the estimated with the actual rows of an operator, which are the host's counters "estimated rows" and "rows".
// Either may be missing.
import { short } from "./format.js";

// Returns actual rows divided by estimated rows, at least 1 row, or null if one of them is not known.
export function estimateError({ rows, "estimated rows": estimate }) {
	return rows === undefined || estimate === undefined ? null : Math.max(rows, 1) / Math.max(estimate, 1);
}

export function rowsText({ rows, "estimated rows": estimate }) {
	if (rows === undefined) return estimate === undefined ? "" : `est. ${short(estimate)}`;
	return estimate === undefined ? short(rows) : `${short(rows)} (est. ${short(estimate)})`;
}

// Returns a text such as "×12 of the estimate", or "" if the estimate is right within a factor of 2 or not known.
export function errorText(counters) {
	const error = estimateError(counters);
	if (error === null || (error < 2 && error > 0.5)) return "";
	return `${error >= 1 ? "×" + short(error) : "÷" + short(1 / error)} of the estimate`;
}
