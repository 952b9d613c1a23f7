# One program per file in bench/, bench/link and bench/search; they reach the internals to measure parts by themselves.
file(GLOB BENCH_SOURCES CONFIGURE_DEPENDS bench/*.c bench/link/*.c bench/search/*.c)
foreach(source ${BENCH_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    target_include_directories(${name} PRIVATE src bench)
    target_link_libraries(${name} PRIVATE rivals)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    list(APPEND BENCH_TARGETS ${name})
endforeach()
set_target_properties(query_log PROPERTIES EXCLUDE_FROM_ALL OFF) # tests read its log
add_custom_target(benchmarks DEPENDS ${BENCH_TARGETS})
