# The stop-word lists come from a package and are turned into a C table in the build folder.
set(STOPWORDS_SOURCE ${CMAKE_BINARY_DIR}/generated/stopwords_table.c)
add_custom_command(
    OUTPUT ${STOPWORDS_SOURCE}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated
    COMMAND perl ${CMAKE_SOURCE_DIR}/src/text/stopwords_table.pl > ${STOPWORDS_SOURCE}
    DEPENDS ${CMAKE_SOURCE_DIR}/src/text/stopwords_table.pl
    VERBATIM)
