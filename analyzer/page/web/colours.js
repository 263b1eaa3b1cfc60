// SPDX-License-Identifier: MIT
// A component has one colour everywhere, chosen by its place in the dictionary, or, where there are more components than colours, by its
// cost in the whole recording, so that filters do not change it.  Eyes with a colour deficiency can tell the palette's colours apart
// (after P. Tol, Colour schemes, 2021, and M. Okabe and K. Ito, 2008), and a text stands beside each.
const LIGHT = [
	"#4477aa", "#ee8866", "#228833", "#aa3377", "#66ccee", "#ccbb44", "#994455", "#44aa99", "#7766bb", "#997700",
	"#dd99bb", "#88aa33"
];
const DARK = [
	"#6699dd", "#ee9977", "#55b86a", "#d466a6", "#77d5f0", "#d9c955", "#cc7788", "#5cc4b2", "#9f91e0", "#c9a336",
	"#e8b0cc", "#a8cc55"
];
export const NONE_LIGHT = "#b8bcc4", NONE_DARK = "#5c626c";

export const paletteAt = i => (dark() ? DARK : LIGHT)[i % LIGHT.length];

// Colours are asked for with each bar of a picture, so the browser's answer is kept, and renewed before the page draws anew.
const preference = matchMedia("(prefers-color-scheme: dark)");
let preferred = preference.matches;
preference.addEventListener("change", () => (preferred = preference.matches));

export const dark = () => {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === "dark" : preferred;
};

export class Colours {
	constructor(dimensions, table) {
		this.order = new Map();
		this.dimensions = dimensions;
		this.table = table;
	}

	// Returns the colour of a dimension's value, by its order among the values.
	of(id, value) {
		const palette = dark() ? DARK : LIGHT;
		value = this.dimensions.get(id)?.rep(value) ?? value;
		if (!value && id !== "thread" && id !== "event" && id !== "process") return dark() ? NONE_DARK : NONE_LIGHT;
		if (!this.order.has(id)) {
			const dimension = this.dimensions.get(id), keys = [...dimension.values.keys()].filter(k => dimension.values[k]);
			if (this.table && keys.length > palette.length) this.byCost(dimension, keys);
			this.order.set(id, new Map(keys.map((k, i) => [dimension.values[k], i])));
		}
		return palette[(this.order.get(id).get(value) ?? value) % palette.length];
	}

	// Among many values, the most expensive ones of the whole recording get different colours.
	byCost(dimension, keys) {
		const sums = this.table.sums(dimension, null, [...this.table.filterNames, "time"]);
		keys.sort((x, y) => sums[3 * y] - sums[3 * x] || x - y);
	}
}

export function theme() {
	const style = getComputedStyle(document.documentElement), get = v => style.getPropertyValue(v).trim();
	return {
		ink: get("--ink"), quiet: get("--quiet"), line: get("--line"), paper: get("--paper"),
		accent: get("--accent"), hot: get("--hot"), card: get("--card"),
		font: getComputedStyle(document.body).fontFamily
	};
}

// Returns a colour between that of the paper (0) and hot (1), which rises with the square root of the part. A part of 0 is transparent.
export function heat(part) {
	const strength = part <= 0 ? 0 : 0.08 + 0.92 * Math.sqrt(Math.min(1, part));
	return dark() ? `hsla(14, 85%, 58%, ${(0.6 * strength).toFixed(3)})` : `hsla(14, 90%, 55%, ${(0.75 * strength).toFixed(3)})`;
}
