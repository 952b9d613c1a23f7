/* How far the similarities that signatures estimate lie from the true cosines: the mean absolute
 * error over all pairs, pairs above 0.1 and pairs above 0.2 (Ture et al. 2011, Table 1), beside
 * what theory expects of random projection. */
#pragma once

#include <stdint.h>

enum { ERROR_CLASSES = 3 };

/* Zero-initialise; sums over pairs. */
struct signature_error {
    double error[ERROR_CLASSES];
    double theory[ERROR_CLASSES];
    uint64_t pairs[ERROR_CLASSES];
};

/* bits: width of the signatures, for the theory. */
void signature_error_add(struct signature_error *sums, double cosine, double estimate,
                         unsigned bits);
void signature_error_merge(struct signature_error *sums, const struct signature_error *other);

/* The expected error of the cosine estimated by D random signs for a pair at the angle theta: the
 * share of differing bits is about normal around p = theta / pi with deviation sqrt(p (1 - p) / D),
 * the cosine's slope there is pi sin(theta), and the mean of the absolute value of a normal is
 * sqrt(2 / pi) deviations. */
double expected_cosine_error(double cosine, unsigned bits);
