#include "papers/window_equations.h"

#include <math.h>

#include "estimate/radius.h"

double window_equation_4(double cosine, unsigned prefix_bits, unsigned tables) {
    double agreement = 1 - bit_flip_probability_cosine(cosine);
    return 1 - pow(1 - pow(agreement, prefix_bits), tables);
}

double window_equation_5(double cosine, unsigned prefix_bits, unsigned bits, uint32_t radius_bits) {
    return probability_within(bits - prefix_bits, bit_flip_probability_cosine(cosine),
                              radius_bits < bits - prefix_bits ? radius_bits : bits - prefix_bits);
}

double window_recall_published(const struct window_setting *setting, size_t rows, double cosine,
                               bool round_up) {
    double exact = log2((double)rows / (double)setting->window);
    double rounded = round_up ? ceil(exact) : floor(exact);
    unsigned prefix_bits = rounded > 0 ? (unsigned)rounded : 0;
    if (prefix_bits > setting->bits)
        prefix_bits = setting->bits;
    return window_equation_4(cosine, prefix_bits, setting->tables) *
           window_equation_5(cosine, prefix_bits, setting->bits, setting->radius_bits);
}
