// SPDX-License-Identifier: MIT
// When a filter changes, views are drawn anew.  The keyboard stays where it was, on the row or button with the same name.
const called = el => {
	const around = el.closest("[role=region]")?.getAttribute("aria-label") ?? el.closest(".card")?.querySelector("h2")?.textContent ??
		"";
	const text = el.tagName === "TR" ? [...el.querySelectorAll("td.t, td.s")].map(td => td.textContent).join(" ") :
		el.getAttribute("aria-label") ?? el.textContent.replace(/[▾▴]/, "").trim();
	return `${el.tagName} ${around} ${text}`;
};

export function keepingFocus(root, draw) {
	const el = document.activeElement, name = el && el !== root && root.contains(el) ? called(el) : null;
	draw();
	if (name === null || el.isConnected) return;
	[...root.querySelectorAll(el.tagName)].find(other => called(other) === name)?.focus({ preventScroll: true });
}
