/* SPDX-License-Identifier: MIT */
/* The flame graph's script: zoom by click, search by name.  A box is a g.f with its x, width, depth, self samples and name in
 * data-x, -w, -d, -o, -n.  (The script is in a CDATA section: it must not contain the end mark of one.) */
'use strict';
const boxes = document.querySelectorAll('g.f'), note = document.getElementById('note');
const WIDTH = 1180, MARGIN = 10, LETTER = 6.6, CLOSE = 1e-6;

function number(box, key) {
	return parseFloat(box.dataset[key]);
}

function label(box, width) {
	const name = box.dataset.n, letters = Math.floor((width - 4) / LETTER);
	let text = '';

	if (letters >= 3)
		text = name.length <= letters ? name : name.slice(0, letters - 2) + '..';
	box.querySelector('text').textContent = text;
}

/* Show a box as wide as the page, with its callees above and its callers below; null: everything. */
function zoom(to) {
	const left = to ? number(to, 'x') : 0, all = to ? number(to, 'w') : WIDTH, floor = to ? number(to, 'd') : 0;

	for (const box of boxes) {
		const x = number(box, 'x'), w = number(box, 'w');
		const below = number(box, 'd') < floor && x <= left + CLOSE && x + w >= left + all - CLOSE;
		const shown = below || (x >= left - CLOSE && x + w <= left + all + CLOSE);
		const at = below ? 0 : (x - left) * WIDTH / all, width = below ? WIDTH : w * WIDTH / all;

		box.style.display = shown ? '' : 'none';
		box.style.opacity = below ? 0.5 : 1;
		if (!shown)
			continue;
		box.querySelector('rect').setAttribute('x', MARGIN + at);
		box.querySelector('rect').setAttribute('width', Math.max(width - 0.5, 0.1));
		box.querySelector('text').setAttribute('x', MARGIN + 3 + at);
		label(box, width);
	}
}

function search() {
	const wanted = prompt('Search for names that contain:');
	let own = 0;

	if (wanted === null)
		return;
	for (const box of boxes) {
		const found = wanted !== '' && box.dataset.n.includes(wanted);

		box.querySelector('rect').classList.toggle('m', found);
		if (found)
			own += number(box, 'o');
	}
	note.textContent = wanted === '' ? '' : 'self samples of names that contain "' + wanted + '": ' + Math.round(own);
}

for (const box of boxes) {
	const chosen = () => zoom(number(box, 'd') ? box : null);

	box.addEventListener('click', chosen);
	box.addEventListener('mouseover', () => { note.textContent = box.querySelector('title').textContent; });
	box.addEventListener('keydown', (event) => { if (event.key === 'Enter') chosen(); });
}
document.getElementById('search').addEventListener('click', search);
