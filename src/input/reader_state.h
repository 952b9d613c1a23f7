/* What reader.c and record_parser.c share. Workers only read it. */
#pragma once

#include "input/byte_source.h"
#include "input/documents/query_log.h"
#include "input/documents/wiki_page.h"
#include "input/input_files.h"
#include "input/record_cutter.h"

struct reader {
    struct reader_options options;
    struct input_files inputs;
    size_t current; /* the file being read, or the next one to open */
    bool open;
    bool keeps_pipes;
    struct byte_source source;
    struct record_cutter cutter;
    struct buffer carry; /* the front of a record that the last batch ended in */
    uint64_t record_count;
    struct wiki_page_parser *wiki; /* once there is a dump to judge pages of */
    struct left_out_pages left_out;
    struct query_log *log; /* once there is a query log; kept over passes */
    bool log_is_grouped;
    size_t log_next; /* the record of the log to deliver next */
};
