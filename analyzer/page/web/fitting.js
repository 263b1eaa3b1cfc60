// SPDX-License-Identifier: MIT
// Texts that are wider than their cell are cut in the middle: the element keeps the whole text, and shows what fits (page.css: data-cut).
import { cut } from "./dom.js";

const SURE = 0.9; // letters differ in width

// Of elements whose parent hides what overflows; once they are in the page.
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
