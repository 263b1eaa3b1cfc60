// SPDX-License-Identifier: MIT
// Elements are made of names, attributes and children.  Text stays text, since nothing here parses HTML.
export function h(tag, attributes = {}, ...children) {
	const el = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === null || value === undefined || value === false) continue;
		if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
		else if (name === "style") Object.assign(el.style, value);
		else if (name in el && typeof value !== "string") el[name] = value;
		else el.setAttribute(name, value === true ? "" : value);
	}
	el.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false));
	return el;
}

// Direction marks of foreign names must not turn the text around them, so invisible characters are shown.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
export function shown(text, most = 200) {
	let s = String(text ?? "");
	if (s.length > 8 * most) s = s.slice(0, 4 * most) + s.slice(-4 * most);
	return cut(s.replace(hidden, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")), most);
}

// Leaves out a text's middle, to at most that many characters.  Names of a kind differ in how they begin or in how they end.
export function cut(text, most) {
	if (text.length <= most) return text;
	const tail = Math.floor((most - 1) * 0.4), half = /[\ud800-\udbff]$/, other = /^[\udc00-\udfff]/;
	return `${text.slice(0, most - 1 - tail).replace(half, "")}…${tail > 0 ? text.slice(-tail).replace(other, "") : ""}`;
}

const SHORT = 20; // Longer names may be cut where there is little room, so the whole name is their title.

// A foreign name as an element that keeps the direction of the text around it.
export const name = (text, most) =>
	h("bdi", { title: text && text.length > Math.min(SHORT, most ?? 200) ? shown(text, 2000) : null }, shown(text, most));

export function svg(tag, attributes = {}, ...children) {
	const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) el.setAttribute(key, value);
	el.append(...children);
	return el;
}
