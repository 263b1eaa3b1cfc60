// Elements from names, attributes and children.  Text stays text: nothing here parses HTML.
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

// Foreign names: direction marks must not turn what stands around them, and what is not to be seen is shown.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
export function shown(text, most = 200) {
	let s = String(text ?? "");
	if (s.length > 4 * most) s = s.slice(0, 4 * most);
	s = s.replace(hidden, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
	return s.length > most ? s.slice(0, most - 1) + "…" : s;
}

// ... as an element that keeps the direction of what is around it.
export const name = (text, most) => h("bdi", { title: text && text.length > (most ?? 200) ? shown(text, 2000) : null }, shown(text, most));

export function svg(tag, attributes = {}, ...children) {
	const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) el.setAttribute(key, value);
	el.append(...children);
	return el;
}
