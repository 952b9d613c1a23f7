#include "text/analyzer.h"
