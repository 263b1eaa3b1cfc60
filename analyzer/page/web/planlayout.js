// SPDX-License-Identifier: MIT
/*
 * This module computes the places of the plans' operators in a picture from data alone, so it neither draws nor reads the page
 * (tests/page/modules.sh).
 *
 * The trace writer gives each operator its depth and its column within its plan (analyzer/page/html_plan.c).  Here plans become blocks of
 * boxes, and blocks stand side by side in rows, the most expensive plan first.
 */
export const BOX_W = 168, BOX_H = 46, GAP_X = 14, HEAD = 20;
const GAP_Y = 34, GAP_ALONE = 8, MARGIN = 8, LEAST_HEIGHT = 80;
const LEAST_SCALE = 0.65; // smaller texts cannot be read
const LARGEST_SCALE = 1.2;
const PLANS_SHOWN = 6, ALONE_SHOWN = 12, ALONE_IN_ROW = 4;

const widthOf = columns => columns * (BOX_W + GAP_X);
const COLUMN = widthOf(1), LEVEL = BOX_H + GAP_Y, ALONE = BOX_H + GAP_ALONE;

// The head of a plan names its process, if several processes have plans, and its query.
function headOf({ processes: { comm, pid }, components: { name, detail } }, process, root) {
	const of = root?.of;
	const text = root?.text || root?.query || (of && detail[of]) || "";
	return [
		process >= 0 ? `${comm[process]} ${pid[process]}` : "",
		of ? name[of] : "",
		text.replace(/\s+/g, " ").trim()
	].filter(Boolean).join(": ");
}

/*
 * Returns the trees of all plans, the most expensive one first: {nodes, first, last (columns), measure, head}.  A node is {component,
 * depth, x (its column), at (its number in the plan), up (its parent's number, or -1)}.
 */
function treesOf(facts, cost) {
	const severalProcesses = new Set(facts.plans.map(p => p.process)).size > 1;
	const trees = facts.plans.flatMap(plan => {
		const list = [];
		plan.nodes.forEach(([component, parent, depth, x], at) => {
			if (!parent) {
				const root = plan.roots.find(r => r.node === at);
				const head = headOf(facts, severalProcesses ? plan.process : -1, root);
				list.push({ nodes: [], first: Infinity, last: 0, measure: 0, head });
			}
			const tree = list[list.length - 1];
			tree.nodes.push({ component, depth, x, at, up: parent - 1 });
			tree.first = Math.min(tree.first, x);
			tree.last = Math.max(tree.last, x);
			tree.measure += cost(component).measure;
		});
		return list;
	});
	return trees.sort((a, b) => b.measure - a.measure);
}

// A block has one plan, or all operators that no plan has: {head, columns, high, parts: [[tree, place of a node from the block's corner]]}.
function planBlock(tree) {
	const depth = Math.max(...tree.nodes.map(n => n.depth));
	return {
		head: tree.head,
		columns: tree.last - tree.first + 1,
		high: (depth + 1) * LEVEL - GAP_Y,
		parts: [[tree, n => [(n.x - tree.first) * COLUMN, n.depth * LEVEL]]]
	};
}

// Operators of no plan (a server's parsing, sorting) stand below each other beside plans, and in rows where there are no plans.
function aloneBlock(trees, besidePlans) {
	const inRow = besidePlans ? 1 : ALONE_IN_ROW;
	return {
		columns: Math.min(trees.length, inRow),
		high: Math.ceil(trees.length / inRow) * ALONE,
		parts: trees.map((tree, i) => [tree, () => [(i % inRow) * COLUMN, Math.floor(i / inRow) * ALONE]])
	};
}

// Returns the plan's own edges, and those between its operators that are not in its tree (extra).
function edgesOf(tree, boxOf, facts) {
	const componentAt = new Map(tree.nodes.map(n => [n.at, n.component]));
	const edges = [], drawn = new Set();
	for (const { component, up } of tree.nodes) {
		if (up < 0) continue;
		const parent = componentAt.get(up);
		edges.push({ from: boxOf.get(component), to: boxOf.get(parent) });
		drawn.add(`${component} ${parent}`);
	}
	for (const [from, to] of facts.edges)
		if (boxOf.has(from) && boxOf.has(to) && !drawn.has(`${from} ${to}`))
			edges.push({ from: boxOf.get(from), to: boxOf.get(to), extra: true });
	return edges;
}

/*
 * Returns the layout of a trace's plans in a picture of that width, at scale 1, as {boxes, edges, heads, wide, height, nrPlans, nrShown}.
 * facts: {plans, edges, processes, components}, as the page has them. cost(component): {key, measure, weight, samples}; key is undefined
 * where the component has no samples.  Boxes have these numbers, too.
 */
export function layoutPlans(facts, cost, width) {
	const trees = treesOf(facts, cost);
	const plans = trees.filter(t => t.nodes.length > 1);
	const shown = plans.slice(0, PLANS_SHOWN);
	// Beside plans, an operator of no plan is shown only if it has samples.
	const alone = trees
		.filter(t => t.nodes.length === 1 && (!plans.length || cost(t.nodes[0].component).key !== undefined))
		.slice(0, ALONE_SHOWN);
	const blocks = [...shown.map(planBlock), ...(alone.length ? [aloneBlock(alone, plans.length > 0)] : [])];
	const head = blocks.some(block => block.head) ? HEAD : 0;
	const most = Math.max(width / LEAST_SCALE, ...blocks.map(block => widthOf(block.columns)));
	const boxes = [], edges = [], heads = [];
	let left = MARGIN, top = MARGIN, right = 1, low = LEAST_HEIGHT;
	for (const block of blocks) {
		if (left > MARGIN && left + widthOf(block.columns) > most) [left, top] = [MARGIN, low + GAP_Y];
		if (block.head) heads.push({ text: block.head, x: left, y: top });
		for (const [tree, placeOf] of block.parts) {
			const boxOf = new Map();
			for (const node of tree.nodes) {
				const { component } = node, [x, y] = placeOf(node);
				const box = { component, x: left + x, y: top + head + y, ...cost(component) };
				boxes.push(box);
				boxOf.set(component, box);
			}
			edges.push(...edgesOf(tree, boxOf, facts));
		}
		low = Math.max(low, top + head + block.high);
		left += widthOf(block.columns) + GAP_X;
		right = Math.max(right, left);
	}
	// A head may be longer than its plan is wide, and then ends at the next one or at the edge.
	heads.forEach((at, i) => {
		const next = heads[i + 1];
		at.wide = (next?.y === at.y ? next.x : Math.max(right, width)) - GAP_X - at.x;
	});
	const height = Math.max(...boxes.map(b => b.y + BOX_H), LEAST_HEIGHT) + MARGIN;
	return { boxes, edges, heads, wide: right, height, nrPlans: plans.length, nrShown: shown.length };
}

// A view is the part of a layout that a picture shows: {zoom (1: all of it), left (pixels of the layout left of the picture)}.
export const WHOLE = { zoom: 1, left: 0 };

const fitting = (wide, width) => Math.min(1, width / wide);

// Returns the scale of such a view, and the place of the layout's left edge in the picture.
export function viewed({ zoom, left }, wide, width) {
	const scale = fitting(wide, width) * zoom;
	const within = Math.max(0, Math.min(left, wide * scale - width));
	return { scale, left: within, shift: Math.max(0, (width - wide * scale) / 2) - within };
}

// Returns the view that is larger or smaller by a factor around x of the picture, or the whole layout for a factor of 0.
export function zoomed(view, by, x, wide, width) {
	const fit = fitting(wide, width), before = fit * view.zoom;
	const zoom = by ? Math.max(1, Math.min(by * view.zoom, LARGEST_SCALE / fit)) : 1;
	return { zoom, left: (view.left + x) * (fit * zoom) / before - x };
}

// Returns the measure of an operator with its children, along the tree.
export function withChildren(box, edges) {
	return edges.filter(e => e.to === box && !e.extra).reduce((sum, e) => sum + withChildren(e.from, edges), box.measure);
}
