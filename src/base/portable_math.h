/* Mathematics whose last bit is the same on every CPU: the C library picks FMA variants of log at
 * run time, and weights behind signatures may not depend on that. Plain double operations only. */
#ifndef COGNATE_BASE_PORTABLE_MATH_H
#define COGNATE_BASE_PORTABLE_MATH_H

/* Natural logarithm of a positive, finite, normal x, relative error below 1e-14. */
double portable_log(double x);

#endif
