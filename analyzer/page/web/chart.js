// SPDX-License-Identifier: MIT
// A picture is drawn by a pen, on a canvas for the screen or as SVG for a file.  It has a tooltip, and a table of what it shows.
import { cut, h, svg, shown } from "./dom.js";
import { theme } from "./colours.js";
import { tablebox } from "./tablebox.js";
import { save, csv } from "./files.js";
import { next } from "./spots.js";

class CanvasPen {
	constructor(context, t) {
		this.c = context;
		this.theme = t;
	}
	rect(x, y, w, height, fill, { stroke, opacity = 1 } = {}) {
		this.c.globalAlpha = opacity;
		if (fill) {
			this.c.fillStyle = fill;
			this.c.fillRect(x, y, w, height);
		}
		if (stroke) {
			this.c.strokeStyle = stroke;
			this.c.lineWidth = 1;
			this.c.strokeRect(x + 0.5, y + 0.5, w - 1, height - 1);
		}
		this.c.globalAlpha = 1;
	}
	line(x1, y1, x2, y2, stroke, width = 1, dash = []) {
		this.c.strokeStyle = stroke;
		this.c.lineWidth = width;
		this.c.setLineDash(dash);
		this.c.beginPath();
		this.c.moveTo(x1, y1);
		this.c.lineTo(x2, y2);
		this.c.stroke();
		this.c.setLineDash([]);
	}
	path(d, { fill, stroke, width = 1, opacity = 1 } = {}) {
		const p = new Path2D(d);
		this.c.globalAlpha = opacity;
		if (fill) {
			this.c.fillStyle = fill;
			this.c.fill(p);
		}
		if (stroke) {
			this.c.strokeStyle = stroke;
			this.c.lineWidth = width;
			this.c.stroke(p);
		}
		this.c.globalAlpha = 1;
	}
	text(x, y, text, { size = 12, fill, align = "left", bold = false, most } = {}) {
		this.c.font = `${bold ? 600 : 400} ${size}px ${this.theme.font}`;
		this.c.fillStyle = fill ?? this.theme.ink;
		this.c.textAlign = align;
		this.c.textBaseline = "middle";
		this.c.fillText(most ? fit(this, text, most, size) : text, x, y);
	}
	image(x, y, width, height, columns, rows, rgba) {
		this.c.imageSmoothingEnabled = false;
		this.c.drawImage(bitmap(columns, rows, rgba), x, y, width, height);
	}
	width(text, size = 12) {
		this.c.font = `400 ${size}px ${this.theme.font}`;
		return this.c.measureText(text).width;
	}
}

// Returns pixels (RGBA) as a canvas, which is valid until the next call.
let lent = null;
function bitmap(columns, rows, rgba) {
	if (lent?.canvas.width !== columns || lent?.canvas.height !== rows)
		lent = h("canvas", { width: columns, height: rows }).getContext("2d");
	lent.putImageData(new ImageData(rgba, columns, rows), 0, 0);
	return lent.canvas;
}

class SvgPen {
	constructor(width, height, t, measure) {
		this.el = svg("svg", {
			xmlns: "http://www.w3.org/2000/svg",
			width,
			height,
			viewBox: `0 0 ${width} ${height}`,
			"font-family": t.font
		});
		this.theme = t;
		this.measure = measure;
		this.rect(0, 0, width, height, t.card);
	}
	rect(x, y, width, height, fill, { stroke, opacity } = {}) {
		this.el.append(svg("rect", { x, y, width, height, fill: fill ?? "none", stroke, opacity }));
	}
	line(x1, y1, x2, y2, stroke, width = 1, dash = []) {
		this.el.append(svg("line", { x1, y1, x2, y2, stroke, "stroke-width": width, "stroke-dasharray": dash.join(" ") || null }));
	}
	path(d, { fill, stroke, width = 1, opacity } = {}) {
		this.el.append(svg("path", { d, fill: fill ?? "none", stroke, "stroke-width": width, opacity }));
	}
	text(x, y, text, { size = 12, fill, align = "left", bold = false, most } = {}) {
		this.el.append(svg("text", { x, y, "font-size": size, fill: fill ?? this.theme.ink, "dominant-baseline": "central",
					     "font-weight": bold ? 600 : 400,
					     "text-anchor": { left: "start", right: "end", center: "middle" }[align] },
				   most ? fit(this, text, most, size) : text));
	}
	image(x, y, width, height, columns, rows, rgba) {
		this.el.append(
			svg("image", {
				x, y, width, height, href: bitmap(columns, rows, rgba).toDataURL(),
				preserveAspectRatio: "none", "image-rendering": "pixelated"
			})
		);
	}
	width(text, size = 12) {
		return this.measure.width(text, size);
	}
}

// Cuts a text in its middle to as much as there is room for.
export function fit(pen, text, most, size = 12) {
	if (pen.width(text, size) <= most) return text;
	let low = 0, high = text.length;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (pen.width(cut(text, middle), size) <= most) low = middle;
		else high = middle - 1;
	}
	return low > 1 ? cut(text, low) : "";
}

// Returns a component's name, in two lines if it is too wide and has a detail that tells it from others of the name, as in "hash join (a =
// b)".
export function inLines(pen, name, most, size = 12) {
	const whole = shown(name, 60), at = whole.indexOf(" (");
	return at < 1 || !whole.endsWith(")") || pen.width(whole, size) <= most ? [whole] : [whole.slice(0, at), whole.slice(at + 2, -1)];
}

const tip = h("div", { class: "tip", role: "tooltip", "aria-live": "polite", hidden: true });
export function tooltip(lines, event) {
	tip.hidden = !lines;
	if (!lines) return;
	if (!tip.isConnected) document.body.append(tip);
	tip.replaceChildren(
		...lines.map((line, i) => h("div", { class: i ? null : "tip-head" }, typeof line === "string" ? shown(line, 160) : line))
	);
	const box = tip.getBoundingClientRect(), room = 14;
	const x = event.clientX + room + box.width > innerWidth ? event.clientX - room - box.width : event.clientX + room;
	const y = event.clientY + room + box.height > innerHeight ? event.clientY - room - box.height : event.clientY + room;
	Object.assign(tip.style, { left: `${Math.max(4, x)}px`, top: `${Math.max(4, y)}px` });
}

/*
 * spec has:
 *   title, name (of files), height or height(width), controls (elements beside the title)
 *   draw(pen, width, height)
 *   tip(x, y), which returns lines or null
 *   click(x, y, event)
 *   table(), which returns {columns, rows} (see tablebox.js)
 *   key(event), which returns true if the key is one of the chart's
 *   spots(), which returns the places that the keyboard goes to (see spots.js); if ordered, arrow keys go from each to the next one
 *   reveal(spot), which moves a spot into the picture before the keyboard goes to it, and cursor(x, y), which returns a CSS cursor
 * Returns {el, draw(), canvas, at(event), table, spots()}.
 */
export function chart(spec) {
	const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": `${spec.title}; the table below has the same figures` });
	const context = canvas.getContext("2d");
	const behind = h("div", { class: "behind", hidden: true });
	const button = (label, title, fn) => h("button", { class: "small", title, onclick: fn }, label);
	const tableButton = button("Table", "The figures of this picture as a table", () => {
		behind.hidden = !behind.hidden;
		tableButton.setAttribute("aria-expanded", String(!behind.hidden));
		fill();
	});
	tableButton.setAttribute("aria-expanded", "false");
	const el = h("section", { class: "card" },
		h("header", {}, h("h2", {}, spec.title), spec.controls, h("span", { class: "spring" }),
		  h("span", { class: "tools" }, tableButton,
		    button("SVG", "Save this picture as SVG", () => save(`${spec.name}.svg`, "image/svg+xml", asSvg())),
		    button("PNG", "Save this picture as PNG", () => canvas.toBlob(blob => save(`${spec.name}.png`, "image/png", blob))),
		    button("CSV", "Save this picture's figures as CSV", () => save(`${spec.name}.csv`, "text/csv", csv(spec.table()))))),
		h("div", { class: "picture" }, canvas), behind);
	let size = [0, 0], spotAt = -1, pointed = null;

	function fill() {
		if (!behind.hidden) behind.replaceChildren(tablebox({ name: spec.name, ...spec.table() }).el);
	}
	function draw() {
		const width = Math.max(120, canvas.parentElement.clientWidth || 640);
		const height = typeof spec.height === "function" ? spec.height(width) : spec.height;
		const ratio = Math.min(3, devicePixelRatio || 1);
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.height = `${height}px`;
		}
		size = [width, height];
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		const pen = new CanvasPen(context, theme());
		spec.draw(pen, width, height);
		const spot = spec.spots?.()[spotAt];
		if (spot && document.activeElement === canvas) {
			pen.rect(spot.x, spot.y, spot.w, spot.h, null, { stroke: pen.theme.accent });
			pen.rect(spot.x - 1, spot.y - 1, spot.w + 2, spot.h + 2, null, { stroke: pen.theme.card });
			pen.rect(spot.x - 2, spot.y - 2, spot.w + 4, spot.h + 4, null, { stroke: pen.theme.accent });
		}
		fill();
		if (pointed) point(); // The tooltip's figures have changed.
	}
	function asSvg() {
		const pen = new SvgPen(...size, theme(), new CanvasPen(context, theme()));
		spec.draw(pen, ...size);
		return new XMLSerializer().serializeToString(pen.el);
	}
	const at = e => {
		const box = canvas.getBoundingClientRect();
		return [e.clientX - box.left, e.clientY - box.top];
	};
	// Shows the tooltip of the place that the pointer, or the keyboard, is at.
	function point(e = pointed) {
		pointed = e;
		const lines = spec.tip?.(...at(e), e);
		tooltip(lines, e);
		canvas.style.cursor = spec.cursor?.(...at(e)) ?? (lines && spec.click ? "pointer" : "default");
	}
	function leave() {
		pointed = null;
		tooltip(null);
	}
	const middle = spot => {
		const box = canvas.getBoundingClientRect();
		return { clientX: box.left + spot.x + spot.w / 2, clientY: box.top + spot.y + spot.h / 2 };
	};
	function visit(e) {
		const spots = spec.spots(), to = next(spots, spotAt, e.key, spec.ordered);
		if ((e.key === "Enter" || e.key === " ") && spots[spotAt]) spec.click?.(...at(middle(spots[spotAt])), e);
		else if (to < 0) return false;
		else {
			spotAt = to;
			spec.reveal?.(spots[to]);
			pointed = null;
			draw();
			point(middle(spec.spots()[to]));
		}
		return true;
	}
	canvas.addEventListener("pointermove", e => point(e));
	canvas.addEventListener("pointerleave", leave);
	canvas.addEventListener("blur", () => { if (spotAt >= 0) spotAt = -1, leave(), draw(); });
	if (spec.click) canvas.addEventListener("click", e => spec.click(...at(e), e));
	canvas.addEventListener("keydown", e => {
		if (spec.spots && !e.ctrlKey && !e.metaKey && visit(e) || spec.key?.(e)) e.preventDefault(), e.stopPropagation();
	});
	return { el, draw, canvas, at, table: spec.table, spots: () => spec.spots?.() ?? [] };
}
