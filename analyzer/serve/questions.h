/* SPDX-License-Identifier: MIT */
/*
 * A request of a page has questions to a served trace.  This is the format of requests and answers: 32-bit little-endian words (64-bit
 * values: lower half first).
 *
 *   request:  QUESTIONS_MAGIC, number of arrays, of filters, of questions, begin and end of the time range (64-bit, microseconds since the
 *             first sample: [begin, end)); then the arrays, filters and questions
 *   array:    bytes; the bytes, filled up to words
 *   filter:   QUESTIONS_SETS, number n of sets (at most 4), n times { column, array }: rows pass whose number is allowed by one of the
 *             sets (a byte per number); or QUESTIONS_RANGE, column, low, high (64-bit): rows pass whose number is in [low, high)
 *   question: QUESTIONS_SUMS, except, three keys: sums by the first key (by pairs of the first and the second, unless the second is
 *             QUESTIONS_ALL) and by the third; or QUESTIONS_ROWS, except: the rows that pass.  except: a bit for each filter, by its
 *             number in the request, that does not apply, and QUESTIONS_NO_TIME if the time range does not apply
 *   key:      QUESTIONS_ALL; or QUESTIONS_BY, column, array of words that maps numbers to keys or QUESTIONS_NO_MAP, number of keys;
 *             or QUESTIONS_BINS, column, origin (64-bit), 1 / width (double), number of bins
 *
 * Columns are given by their number in the facts (http.h).  Answers follow each other, each at a multiple of 8 bytes:
 *
 *   sums:     number of cells, QUESTIONS_DENSE, for each of them three doubles: samples, weight, squared weights (struct crossfilter_sum);
 *             or number of cells, how many of them have samples, their numbers, and at a multiple of 8 bytes the three doubles of each
 *   rows:     number of rows, QUESTIONS_DENSE, a bit per row, which is set if the row passes
 *
 * Requests are not trusted.  Context: one thread.
 */
#ifndef TAILOR_QUESTIONS_H
#define TAILOR_QUESTIONS_H

#include "analyzer/serve/served.h"

#define QUESTIONS_MAGIC 0x31514c54u /* "TLQ1" */
#define QUESTIONS_NO_TIME (1u << 16)
#define QUESTIONS_NO_MAP UINT32_MAX
#define QUESTIONS_DENSE UINT32_MAX
#define QUESTIONS_MAX 1024u	    /* maximum number of questions of a request, and most arrays */
#define QUESTIONS_CELLS_MAX (1u << 24) /* maximum number of cells of a question */
#define QUESTIONS_BYTES_MAX (1u << 30) /* maximum number of bytes of all answers of a request */

enum { QUESTIONS_SETS, QUESTIONS_RANGE };
enum { QUESTIONS_SUMS, QUESTIONS_ROWS };
enum { QUESTIONS_ALL, QUESTIONS_BY, QUESTIONS_BINS };

/*
 * Answers the questions of a request.  Returns 0, and *answer has *nr bytes, which the caller frees.  Otherwise returns -EINVAL if the
 * request is malformed, or -E2BIG if the answers would be too large, with the reason in *why, or -ENOMEM.
 */
int questions_answer(struct served *s, const void *question, size_t bytes, void **answer, size_t *nr, const char **why);

#endif
