/* SPDX-License-Identifier: MIT */
/*
 * Chooses the arcs of a control-flow graph to count, from which the counts of all others follow.  They are the complement of a maximum
 * spanning tree (D. Knuth and F. Stevenson, Optimal measurement points for program frequency counts, BIT 13, 1973; T. Ball and J. Larus,
 * Optimally profiling and tracing programs, TOPLAS 16, 1994).  All functions work on the caller's memory, and none allocates or recurses.
 * The header needs no other one of jitreg, and is C99 to C23 and C++11 to C++23.
 *
 *	struct jitreg_place_arc arcs[] = { { JITREG_PLACE_OUTSIDE, 0, 1 }, { 0, 1, 7 }, { 0, 2, 3 }, ... };
 *	uint32_t scratch[JITREG_PLACE_SCRATCH(nr_blocks, nr_arcs)];
 *
 *	jitreg_place_estimate(arcs, nr_arcs, nr_blocks, scratch);      if the host knows no frequencies
 *	jitreg_place(arcs, nr_arcs, nr_blocks, counted, scratch);      counted[i]: arc i needs a counter
 *
 * Context of all functions: any.
 */
#ifndef JITREG_PLACE_H
#define JITREG_PLACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define JITREG_PLACE_CAST_(type, v) static_cast<type>(v)
#else
#define JITREG_PLACE_CAST_(type, v) ((type)(v))
#endif

/* Blocks are numbered from 0.  An arc from JITREG_PLACE_OUTSIDE enters the function, and an arc to it leaves the function, so there are as
 * many executions from it as to it. */
#define JITREG_PLACE_OUTSIDE 0xffffffffu
struct jitreg_place_arc {
	uint32_t from;
	uint32_t to;
	uint64_t estimate; /* frequency relative to other arcs */
};

/* This is the number of words of scratch memory that is enough for each function. */
#define JITREG_PLACE_SCRATCH(nr_blocks, nr_arcs) (6u * (nr_blocks) + 2u + (nr_arcs))

/*
 * Set counted[i] to 1 if arc i needs a counter, and to 0 if its count follows from others. Returns the number of arcs to count. If all
 * blocks are reachable and all arcs name existing blocks, this is nr_arcs - nr_blocks, and the sum of their estimates is minimal. Arcs that
 * name a block which does not exist get 0. Takes O(nr_arcs log nr_arcs) time.
 */
static inline uint32_t jitreg_place(const struct jitreg_place_arc *arcs, uint32_t nr_arcs, uint32_t nr_blocks, unsigned char *counted,
				    uint32_t *scratch);

/*
 * Set the estimates of all arcs from the graph alone. The depth of an arc is the number of loops around that end which has fewer of them
 * (JITREG_PLACE_DEPTH_MAX at most), and its estimate is 16 * 8^depth, divided by the number of arcs of this depth that leave the same block
 * (16 at most). Arcs that name a block which does not exist get 0. Loops, also those with several entries, and their nesting are found in
 * one depth-first search (T. Wei et al., A new algorithm for identifying loops in decompilation, SAS 2007). Takes O(nr_arcs + nr_blocks *
 * JITREG_PLACE_DEPTH_MAX) time if loops are nested normally.
 */
static inline void jitreg_place_estimate(struct jitreg_place_arc *arcs, uint32_t nr_arcs, uint32_t nr_blocks, uint32_t *scratch);
#define JITREG_PLACE_DEPTH_MAX 16u

/* =========================================================================================================== implementation */

static inline int jitreg_place_is_arc_(const struct jitreg_place_arc *a, uint32_t nr_blocks)
{
	return (a->from < nr_blocks || a->from == JITREG_PLACE_OUTSIDE) && (a->to < nr_blocks || a->to == JITREG_PLACE_OUTSIDE);
}

/* Returns the root of a node in a union-find structure, and halves the path to it (path halving).  JITREG_PLACE_OUTSIDE is node
 * nr_blocks. */
static inline uint32_t jitreg_place_root_(uint32_t *tree, uint32_t node)
{
	while (tree[node] != node)
		node = tree[node] = tree[tree[node]];
	return node;
}

/* Does arc x come before arc y in the order by larger estimate, then by lower number? */
static inline int jitreg_place_before_(const struct jitreg_place_arc *arcs, uint32_t x, uint32_t y)
{
	return arcs[x].estimate != arcs[y].estimate ? arcs[x].estimate > arcs[y].estimate : x < y;
}

/* Move the element at `at` down in a heap of nr elements whose top comes last in the order of jitreg_place_before_(), until no child comes
 * after it. */
static inline void jitreg_place_sift_(const struct jitreg_place_arc *arcs, uint32_t *order, uint32_t at, uint32_t nr)
{
	for (;;) {
		uint32_t child = 2 * at + 1, moved = order[at];

		if (child >= nr)
			return;
		if (child + 1 < nr && jitreg_place_before_(arcs, order[child], order[child + 1]))
			child++;
		if (!jitreg_place_before_(arcs, moved, order[child]))
			return;
		order[at] = order[child];
		order[child] = moved;
		at = child;
	}
}

static inline uint32_t jitreg_place(const struct jitreg_place_arc *arcs, uint32_t nr_arcs, uint32_t nr_blocks, unsigned char *counted,
				    uint32_t *scratch)
{
	uint32_t *tree = scratch, *order = scratch + nr_blocks + 1, nr_counted = 0, i;

	for (i = 0; i <= nr_blocks; i++)
		tree[i] = i;
	for (i = 0; i < nr_arcs; i++)
		order[i] = i;
	for (i = nr_arcs / 2; i > 0; i--)
		jitreg_place_sift_(arcs, order, i - 1, nr_arcs);
	for (i = nr_arcs; i > 1; i--) {
		uint32_t last = order[0];

		order[0] = order[i - 1];
		order[i - 1] = last;
		jitreg_place_sift_(arcs, order, 0, i - 1);
	}
	for (i = 0; i < nr_arcs; i++) {
		const struct jitreg_place_arc *a = &arcs[order[i]];
		uint32_t from, to;

		counted[order[i]] = 0;
		if (!jitreg_place_is_arc_(a, nr_blocks))
			continue;
		from = jitreg_place_root_(tree, a->from == JITREG_PLACE_OUTSIDE ? nr_blocks : a->from);
		to = jitreg_place_root_(tree, a->to == JITREG_PLACE_OUTSIDE ? nr_blocks : a->to);
		if (from != to) {
			tree[from] = to;
			continue;
		}
		counted[order[i]] = 1;
		nr_counted++;
	}
	return nr_counted;
}

/* This struct has the state of the depth-first search.  Each array has an element for each block.  position: the block's position on the
 * current path from 1 on, or 0 if it is not on the path.  header: 1 + the header of the innermost loop that contains the block, but does
 * not begin with it, or 0.  stack: the current path.  next: index in arc_of of the next arc to follow from the block.  is_header: bit 0 is
 * set for loop headers, and bit 1 for visited blocks. */
struct jitreg_place_search_ {
	uint32_t *position, *header, *stack, *next, *is_header;
};

static inline void jitreg_place_tag_(const struct jitreg_place_search_ *s, uint32_t block, uint32_t header)
{
	if (header == 0 || block + 1 == header)
		return;
	while (s->header[block]) {
		uint32_t around = s->header[block];

		if (around == header)
			return;
		if (s->position[around - 1] < s->position[header - 1]) {
			s->header[block] = header;
			block = header - 1;
			header = around;
		} else {
			block = around - 1;
		}
	}
	s->header[block] = header;
}

/* Handle an arc to a block that was visited before.  If that block is on the current path, the arc closes a loop with it as header.  If it
 * is in a loop whose header is on the path, the arc enters the loop beside its header, and block is in the loop as well. */
static inline void jitreg_place_meet_(const struct jitreg_place_search_ *s, uint32_t block, uint32_t to)
{
	uint32_t header;

	if (s->position[to]) {
		s->is_header[to] |= 1;
		jitreg_place_tag_(s, block, to + 1);
		return;
	}
	for (header = s->header[to]; header; header = s->header[header - 1])
		if (s->position[header - 1]) {
			jitreg_place_tag_(s, block, header);
			return;
		}
}

static inline uint32_t jitreg_place_depth_(const struct jitreg_place_search_ *s, uint32_t block)
{
	uint32_t depth = s->is_header[block] & 1, header;

	for (header = s->header[block]; header && depth < JITREG_PLACE_DEPTH_MAX; header = s->header[header - 1])
		depth++;
	return depth;
}

/* Return the depth of an arc.  s->position has the depths of the blocks by then. */
static inline uint32_t jitreg_place_arc_depth_(const struct jitreg_place_search_ *s, const struct jitreg_place_arc *a, uint32_t nr_blocks)
{
	if (a->from >= nr_blocks || a->to >= nr_blocks)
		return 0;
	return s->position[a->from] < s->position[a->to] ? s->position[a->from] : s->position[a->to];
}

static inline void jitreg_place_estimate(struct jitreg_place_arc *arcs, uint32_t nr_arcs, uint32_t nr_blocks, uint32_t *scratch)
{
	struct jitreg_place_search_ s;
	uint32_t *first = scratch + 5 * nr_blocks, *arc_of = first + nr_blocks + 2, i, root, depth;

	s.position = scratch;
	s.header = scratch + nr_blocks;
	s.stack = s.header + nr_blocks;
	s.next = s.stack + nr_blocks;
	s.is_header = s.next + nr_blocks;
	for (i = 0; i < 6 * nr_blocks + 2; i++)
		scratch[i] = 0;
	/* Sort the arcs by their origin. The arcs of each block are counted, the counts are added up, and each arc is put in its place. */
	for (i = 0; i < nr_arcs; i++)
		if (jitreg_place_is_arc_(&arcs[i], nr_blocks) && arcs[i].from < nr_blocks)
			first[arcs[i].from + 2]++;
	for (i = 2; i < nr_blocks + 2; i++)
		first[i] += first[i - 1];
	for (i = 0; i < nr_arcs; i++)
		if (jitreg_place_is_arc_(&arcs[i], nr_blocks) && arcs[i].from < nr_blocks)
			arc_of[first[arcs[i].from + 1]++] = i;
	for (root = 0; root < nr_blocks; root++) {
		uint32_t nr = 0;

		if (s.is_header[root])
			continue;
		s.is_header[root] = 2;
		s.stack[nr++] = root;
		s.position[root] = nr;
		s.next[root] = first[root];
		while (nr) {
			uint32_t block = s.stack[nr - 1], to;

			if (s.next[block] == first[block + 1]) {
				s.position[block] = 0;
				if (--nr)
					jitreg_place_tag_(&s, s.stack[nr - 1], s.header[block]);
				continue;
			}
			to = arcs[arc_of[s.next[block]++]].to;
			if (to == JITREG_PLACE_OUTSIDE)
				continue;
			if (s.is_header[to]) {
				jitreg_place_meet_(&s, block, to);
				continue;
			}
			s.is_header[to] = 2;
			s.stack[nr++] = to;
			s.position[to] = nr;
			s.next[to] = first[to];
		}
	}
	for (i = 0; i < nr_blocks; i++)
		s.position[i] = jitreg_place_depth_(&s, i);
	for (i = 0; i < nr_arcs; i++)
		arcs[i].estimate = jitreg_place_is_arc_(&arcs[i], nr_blocks) ?
					   JITREG_PLACE_CAST_(uint64_t, 16) << (3 * jitreg_place_arc_depth_(&s, &arcs[i], nr_blocks)) :
					   0;
	/* Divide by the number of arcs of the same block and depth, 16 at most.  Arcs that enter the function have no such others. */
	for (root = 0; root < nr_blocks; root++) {
		uint32_t nr_of_depth[JITREG_PLACE_DEPTH_MAX + 1];

		for (i = 0; i <= JITREG_PLACE_DEPTH_MAX; i++)
			nr_of_depth[i] = 0;
		for (i = first[root]; i < first[root + 1]; i++) {
			depth = jitreg_place_arc_depth_(&s, &arcs[arc_of[i]], nr_blocks);
			nr_of_depth[depth] += nr_of_depth[depth] < 16;
		}
		for (i = first[root]; i < first[root + 1]; i++)
			arcs[arc_of[i]].estimate /= nr_of_depth[jitreg_place_arc_depth_(&s, &arcs[arc_of[i]], nr_blocks)];
	}
}

#ifdef __cplusplus
}
#endif

#endif
