/* SPDX-License-Identifier: MIT */
/* This file has the part of <math.h> that a build without a libc needs. The functions are instructions of WebAssembly, or those of
 * JavaScript that analyzer/page/web/judge.js passes to the module. Context: any. */
#ifndef TAILOR_WASM_MATH_H
#define TAILOR_WASM_MATH_H

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)

#define FROM_PAGE(name) __attribute__((import_module("math"), import_name(#name)))
FROM_PAGE(exp) double exp(double x);
FROM_PAGE(log) double log(double x);
FROM_PAGE(log1p) double log1p(double x);
FROM_PAGE(lgamma) double lgamma(double x);
FROM_PAGE(pow) double pow(double x, double y);

static inline double fabs(double x)
{
	return __builtin_fabs(x);
}

static inline double ceil(double x)
{
	return __builtin_ceil(x);
}

/* Rounds x, which must fit into 64 bits, to the nearest whole number, and halves away from 0. */
static inline long long llround(double x)
{
	return (long long)(x < 0 ? __builtin_ceil(x - 0.5) : __builtin_floor(x + 0.5));
}

static inline double sqrt(double x)
{
	return __builtin_sqrt(x);
}

/* If one of the two is NAN, fmax() and fmin() return the other one. */
static inline double fmax(double x, double y)
{
	return isnan(x) || x < y ? y : x;
}

static inline double fmin(double x, double y)
{
	return isnan(x) || x > y ? y : x;
}

#endif
