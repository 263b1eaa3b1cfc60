// SPDX-License-Identifier: MIT
// Texts that are wider than their cell are cut in the middle.  The element keeps the whole text, and page.css shows its data-cut.
import { cut } from "./dom.js";

const SURE = 0.9; // A part of the room is kept free, because letters differ in width.

// Cuts the texts of elements whose parent hides what overflows.  The elements must be in the page, since their widths are measured.
export function fitTexts(root, selector) {
	requestAnimationFrame(() => {
		const list = [...root.querySelectorAll(selector)];
		for (const el of list) if (el.dataset.cut) delete el.dataset.cut;
		const wide = list.map(el => {
			const box = el.parentElement.getBoundingClientRect(), own = el.getBoundingClientRect();
			return own.width > 0 && own.right > box.right + 1 ? Math.max(0, box.right - own.left) / own.width : 1;
		});
		list.forEach((el, i) => {
			if (wide[i] < 1)
				el.dataset.cut = cut(el.textContent, Math.max(3, Math.floor(el.textContent.length * wide[i] * SURE)));
		});
	});
}
