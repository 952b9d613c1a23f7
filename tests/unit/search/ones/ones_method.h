/* A method that exists only in the tests: rows sorted by how many of their bits are one. Rows whose
 * numbers of ones differ by d differ in at least d bits, so a search looks only at near numbers. It
 * shows the shortest form of a descriptor (search/method.h). */
#pragma once

#include "search/method.h"

extern const struct search_method ones_method;
