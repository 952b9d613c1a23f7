# Snowball's stop-word lists come from a package and are turned into a C table in the build folder.
set(STOPWORDS_SOURCE ${CMAKE_BINARY_DIR}/generated/snowball_stop_words.c)
set(STOPWORDS_SCRIPT ${CMAKE_SOURCE_DIR}/src/text/language/snowball_stop_words.pl)
add_custom_command(
    OUTPUT ${STOPWORDS_SOURCE}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated
    COMMAND perl ${STOPWORDS_SCRIPT} > ${STOPWORDS_SOURCE}
    DEPENDS ${STOPWORDS_SCRIPT}
    VERBATIM)
