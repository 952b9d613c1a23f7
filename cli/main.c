#include <stdio.h>

#include "cognate.h"

int main(void) {
    puts("cognate");
    return 0;
}
