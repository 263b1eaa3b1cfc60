/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/stats.h"

#include <math.h>

struct estimate stats_mean(const double *v, size_t nr)
{
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < nr; i++)
		sum += v[i];
	mean = nr ? sum / (double)nr : 0;
	for (size_t i = 0; i < nr; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return (struct estimate){ mean, nr > 1 ? sqrt(squares / (double)(nr - 1) / (double)nr) : 0, nr > 1 ? (double)(nr - 1) : 0 };
}

struct estimate stats_ratio(const double *part, const double *whole, size_t nr)
{
	double parts = 0, wholes = 0, squares = 0, ratio, average;

	for (size_t i = 0; i < nr; i++) {
		parts += part[i];
		wholes += whole[i];
	}
	if (!(wholes > 0))
		return (struct estimate){ 0, 0, 0 };
	ratio = parts / wholes;
	average = wholes / (double)nr;
	for (size_t i = 0; i < nr; i++)
		squares += (part[i] - ratio * whole[i]) * (part[i] - ratio * whole[i]);
	if (nr < 2)
		return (struct estimate){ ratio, 0, 0 };
	return (struct estimate){ ratio, sqrt(squares / (double)(nr - 1) / (double)nr) / average, (double)(nr - 1) };
}

struct estimate stats_difference(struct estimate a, struct estimate b)
{
	double va = a.error * a.error, vb = b.error * b.error, below = 0;

	if (a.df > 0)
		below += va * va / a.df;
	if (b.df > 0)
		below += vb * vb / b.df;
	return (struct estimate){ b.mean - a.mean, sqrt(va + vb), a.df <= 0 || b.df <= 0 ? 0 :
				  below > 0 ? (va + vb) * (va + vb) / below : a.df + b.df };
}

/* Return the continued fraction in the incomplete beta function, by Lentz's method (W. Press et al., Numerical Recipes, 6.4). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = fabs(d) < 1e-300 ? 1e-300 : d;
	d = 1 / d;
	h = d;
	for (int m = 1; m <= 300; m++) {
		double n = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), step;

		d = 1 + n * d;
		c = 1 + n / c;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		h *= d * (fabs(c) < 1e-300 ? 1e-300 : c);
		n = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + n * d;
		c = 1 + n / c;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		step = d * (fabs(c) < 1e-300 ? 1e-300 : c);
		h *= step;
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_quantile(double df, double alpha)
{
	double low = 0, high = 1;

	if (!(df > 0))
		return INFINITY;
	df = df > 1e6 ? 1e6 : df;
	/* For Student's t, P(|T| > x) is the incomplete beta function I_{df / (df + x^2)}(df / 2, 1 / 2), which falls as x grows. So x is
	 * found by bisection. */
	while (incomplete_beta(df / 2, 0.5, df / (df + high * high)) > alpha && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-10 * high; i++) {
		double middle = (low + high) / 2;

		if (incomplete_beta(df / 2, 0.5, df / (df + middle * middle)) > alpha)
			low = middle;
		else
			high = middle;
	}
	return high;
}
