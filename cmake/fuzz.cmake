# Each fuzz/fuzz_*.c becomes a program build/fuzz/NAME: with clang and -DCOGNATE_FUZZ=ON a libFuzzer program, otherwise
# one that replays the files it is given.
file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS fuzz/fuzz_*.c)
foreach(source ${FUZZ_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    target_include_directories(${name} PRIVATE src)
    target_link_libraries(${name} PRIVATE cognate)
    if(COGNATE_FUZZ)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(${name} PRIVATE fuzz/replay.c)
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    list(APPEND FUZZ_TARGETS ${name})
endforeach()
# Part of every build, as the unit tests are, so that they follow the headers.
add_custom_target(fuzzers ALL DEPENDS ${FUZZ_TARGETS})
