/* What reader.c and record_parser.c share. Workers only read it. */
#ifndef COGNATE_INPUT_READER_STATE_H
#define COGNATE_INPUT_READER_STATE_H

#include "input/byte_source.h"
#include "input/input_files.h"
#include "input/record_cutter.h"

struct reader {
    struct reader_options options;
    struct input_files inputs;
    size_t current; /* the file being read, or the next one to open */
    bool open;
    struct byte_source source;
    struct record_cutter cutter;
    struct buffer carry; /* the front of a record that the last batch ended in */
    uint64_t record_count;
};

#endif
