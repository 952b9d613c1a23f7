/* The sections of a segment file and the places in its shape that writer and reader share. */
#pragma once

#include "store/container.h"

#define SECTION_SHAPE CONTAINER_TAG('s', 'h', 'a', 'p')
#define SECTION_ID_OFFSETS CONTAINER_TAG('i', 'd', 'o', 'f')
#define SECTION_ID_BYTES CONTAINER_TAG('i', 'd', 'b', 'y')
#define SECTION_ID_STARTS CONTAINER_TAG('i', 'd', 's', 't')
#define SECTION_ID_ENTRIES CONTAINER_TAG('i', 'd', 'e', 'n')
#define SECTION_SIGNATURES CONTAINER_TAG('s', 'i', 'g', 'n')
#define SECTION_SLICE_OFFSETS CONTAINER_TAG('s', 'l', 'o', 'f')
#define SECTION_SLICE_POSTINGS CONTAINER_TAG('s', 'l', 'p', 'o')
#define SECTION_COLUMN_GROUPS CONTAINER_TAG('b', 'c', 'g', 'r')
#define SECTION_CLUSTER_ORDER CONTAINER_TAG('c', 'l', 'o', 'r')
#define SECTION_CLUSTER_ENDS CONTAINER_TAG('c', 'l', 'e', 'n')
#define SECTION_CLUSTER_SHARES CONTAINER_TAG('c', 'l', 's', 'h')
#define SECTION_VECTOR_OFFSETS CONTAINER_TAG('v', 'c', 'o', 'f')
#define SECTION_VECTOR_COLUMNS CONTAINER_TAG('v', 'c', 'c', 'o')
#define SECTION_VECTOR_VALUES CONTAINER_TAG('v', 'c', 'v', 'a')

enum {
    SHAPE_ROWS = 0,
    SHAPE_BITS = 8,
    SHAPE_STRIDE = 12,
    SHAPE_SLICE_WIDTH = 16,
    SHAPE_COLUMNS = 20,
    SHAPE_ENTRIES = 24,
    SHAPE_BYTES = 48,
};
