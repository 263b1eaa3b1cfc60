// SPDX-License-Identifier: MIT
// Drags over a picture are reported while they go on and at their end.  A press without a drag is a click.
const LEAST = 4; // pixels that are a drag

// A drag calls drag(from, to, event, done) with points [x, y], a click click(x, y, event).  starts(x, y) is false where drags mean nothing.
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
