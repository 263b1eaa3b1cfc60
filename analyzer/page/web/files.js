// SPDX-License-Identifier: MIT
// This module offers data of the page as files that the user can save.
import { h } from "./dom.js";

export function save(name, type, content) {
	const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
	const a = h("a", { href: url, download: name.replace(/[^\w.-]+/g, "-") });
	document.body.append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Fields are quoted by RFC 4180.  A text that a spreadsheet would take for a formula gets a quote in front.
const field = v => {
	const s = typeof v === "number" ? String(v) : (/^[=+\-@]/.test(String(v ?? "")) ? "'" : "") + String(v ?? "");
	return /[",\r\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
};

export const csv = ({ columns, rows }) =>
	[columns.map(c => field(c.title)), ...rows.map(r => columns.map(c => field(c.value(r))))].map(l => l.join(",")).join("\r\n") +
	"\r\n";
