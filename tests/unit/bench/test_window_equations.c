#include <math.h>

#include "estimate/radius.h"
#include "papers/window_equations.h"
#include "test.h"

TEST(recall_model_equations_4_and_5_are_the_papers) {
    /* cos 0.3: theta / pi = 0.40303; (1 - that)^12 = 0.002046; 1 - (1 - 0.002046)^300 = 0.4592. */
    double agreement = 1 - acos(0.3) / M_PI;
    CHECK(near(window_equation_4(0.3, 12, 300), 1 - pow(1 - pow(agreement, 12), 300), 1e-12));
    CHECK(near(window_equation_4(0.3, 12, 300), 0.459, 0.002));
    CHECK(window_equation_4(1, 40, 1) == 1);
    double sum = 0; /* binomial coefficients by Pascal's rule, D - n = 20 */
    double choose[21][21] = {{0}};
    for (int n = 0; n <= 20; n++)
        for (int k = 0; k <= n; k++)
            choose[n][k] = k == 0 || k == n ? 1 : choose[n - 1][k - 1] + choose[n - 1][k];
    for (int i = 0; i <= 7; i++)
        sum += choose[20][i] * pow(1 - agreement, i) * pow(agreement, 20 - i);
    CHECK(near(window_equation_5(0.3, 4, 24, 7), sum, 1e-9));
    struct window_setting setting = {.bits = 24, .tables = 3, .window = 10, .radius_bits = 7};
    CHECK(near(window_recall_published(&setting, 200, 0.3, false),
               window_equation_4(0.3, 4, 3) * sum, 1e-9)); /* log2(20) = 4.3 */
    CHECK(near(window_recall_published(&setting, 200, 0.3, true),
               window_equation_4(0.3, 5, 3) * window_equation_5(0.3, 5, 24, 7), 1e-9));
}
