// SPDX-License-Identifier: MIT
// Drags over a picture: from where to where, while it goes on and at its end; a press without a drag is a click.
const LEAST = 4; // pixels

// drag(from, to, event, done): points [x, y]; click(x, y, event); starts(x, y): false where drags mean nothing.
export function brush(view, { drag, click, starts = () => true }) {
	let from = null, moving = false;
	const { canvas, at } = view, far = to => Math.abs(to[0] - from[0]) >= LEAST || Math.abs(to[1] - from[1]) >= LEAST;
	canvas.addEventListener("pointerdown", e => {
		if (e.button) return;
		from = at(e);
		moving = false;
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", e => {
		if (!from || !starts(...from)) return;
		moving ||= far(at(e));
		if (moving) drag(from, at(e), e, false);
	});
	canvas.addEventListener("pointerup", e => {
		if (!from) return;
		const begin = from, to = at(e);
		from = null;
		if (moving) drag(begin, to, e, true);
		else click?.(...to, e);
	});
	canvas.addEventListener("pointercancel", () => { from = null; });
}
