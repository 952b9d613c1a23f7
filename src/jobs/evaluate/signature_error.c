#include "jobs/evaluate/signature_error.h"

#include <math.h>

static const double class_limits[ERROR_CLASSES] = {-1, 0.1, 0.2};

double expected_cosine_error(double cosine, unsigned bits) {
    double bounded = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
    double theta = acos(bounded), p = theta / M_PI;
    return sqrt(2 / M_PI) * M_PI * sin(theta) * sqrt(p * (1 - p) / bits);
}

void signature_error_add(struct signature_error *sums, double cosine, double estimate,
                         unsigned bits) {
    double error = fabs(estimate - cosine), theory = expected_cosine_error(cosine, bits);
    for (int group = 0; group < ERROR_CLASSES && cosine > class_limits[group]; group++) {
        sums->error[group] += error;
        sums->theory[group] += theory;
        sums->pairs[group]++;
    }
}

void signature_error_merge(struct signature_error *sums, const struct signature_error *other) {
    for (int group = 0; group < ERROR_CLASSES; group++) {
        sums->error[group] += other->error[group];
        sums->theory[group] += other->theory[group];
        sums->pairs[group] += other->pairs[group];
    }
}
