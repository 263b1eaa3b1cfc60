/* SPDX-License-Identifier: MIT */
#include "analyzer/table/planes.h"

static uint64_t to_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)-(int64_t)(difference >> 63);
}

static uint64_t from_zigzag(uint64_t z)
{
	return z >> 1 ^ (uint64_t)-(int64_t)(z & 1);
}

static void reset_last_numbers(const struct planes *p)
{
	for (uint32_t i = 0; p->kind == PLANES_KEYED && i < p->nr_keys; i++)
		p->last[i] = 0;
}

/* Returns the place of the previous number from which number i is a difference. */
static uint64_t *last_number_of_key(const struct planes *p, uint32_t i, uint64_t *before)
{
	return p->kind == PLANES_KEYED && p->key[i] < p->nr_keys ? &p->last[p->key[i]] : before;
}

uint32_t planes_transform(const struct planes *p, uint64_t *numbers)
{
	uint64_t all = 0, before = 0;
	uint32_t nr = 0;

	reset_last_numbers(p);
	for (uint32_t i = 0; i < p->nr; i++) {
		if (p->kind != PLANES_PLAIN) {
			uint64_t *last = last_number_of_key(p, i, &before), number = numbers[i];

			numbers[i] = to_zigzag(number - *last);
			*last = number;
		}
		all |= numbers[i];
	}
	for (; all; all >>= 8)
		nr++;
	return nr;
}

void planes_put(const uint64_t *transformed, uint32_t nr, uint32_t plane, unsigned char *to)
{
	for (uint32_t i = 0; i < nr; i++)
		to[i] = (unsigned char)(transformed[i] >> 8 * plane);
}

static void store_number(void *to, uint32_t width, uint32_t i, uint64_t number)
{
	switch (width) {
	case 1:
		((uint8_t *)to)[i] = (uint8_t)number;
		break;
	case 2:
		((uint16_t *)to)[i] = (uint16_t)number;
		break;
	case 4:
		((uint32_t *)to)[i] = (uint32_t)number;
		break;
	default:
		((uint64_t *)to)[i] = number;
	}
}

void planes_read(const struct planes *p, const unsigned char *bytes, uint32_t nr_planes, void *to, uint32_t width)
{
	uint64_t before = 0;

	reset_last_numbers(p);
	for (uint32_t i = 0; i < p->nr; i++) {
		uint64_t number = 0;

		for (uint32_t plane = 0; plane < nr_planes; plane++)
			number |= (uint64_t)bytes[(size_t)plane * p->nr + i] << 8 * plane;
		if (p->kind != PLANES_PLAIN) {
			uint64_t *last = last_number_of_key(p, i, &before);

			number = *last += from_zigzag(number);
		}
		store_number(to, width, i, number);
	}
}
