# The page of the deduplication report: the files of web/report become one HTML page, with the scripts in the order
# below, and the page becomes two C arrays in the build folder: what stands before the result and what stands behind it.
# Included by CMakeLists.txt, this file adds the command; run by that command (cmake -DTARGET=FILE -DFOLDER=web/report
# -P), it writes the arrays.
set(SCRIPTS result verdicts overview differences list detail keys)
if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(REPORT_PAGE_SOURCE ${CMAKE_BINARY_DIR}/generated/report_page_table.c)
    set(REPORT_PAGE_FOLDER ${CMAKE_SOURCE_DIR}/web/report)
    list(TRANSFORM SCRIPTS PREPEND ${REPORT_PAGE_FOLDER}/ OUTPUT_VARIABLE REPORT_PAGE_SCRIPTS)
    list(TRANSFORM REPORT_PAGE_SCRIPTS APPEND .js)
    add_custom_command(
        OUTPUT ${REPORT_PAGE_SOURCE}
        COMMAND ${CMAKE_COMMAND} -DTARGET=${REPORT_PAGE_SOURCE} -DFOLDER=${REPORT_PAGE_FOLDER}
            -P ${CMAKE_SOURCE_DIR}/cmake/report_page.cmake
        DEPENDS ${CMAKE_SOURCE_DIR}/cmake/report_page.cmake ${REPORT_PAGE_FOLDER}/report.html
            ${REPORT_PAGE_FOLDER}/report.css ${REPORT_PAGE_SCRIPTS}
        VERBATIM)
    return()
endif()

file(READ ${FOLDER}/report.html page)
file(READ ${FOLDER}/report.css style)
set(script "")
foreach(name ${SCRIPTS})
    file(READ ${FOLDER}/${name}.js content)
    string(APPEND script "${content}\n")
endforeach()
string(REPLACE "@report.css@" "${style}" page "${page}")
string(REPLACE "@report.js@" "${script}" page "${page}")
set(place "@result@")
string(FIND "${page}" "${place}" at)
if(at EQUAL -1)
    message(FATAL_ERROR "${FOLDER}/report.html has no ${place}")
endif()
string(LENGTH "${place}" length)
math(EXPR behind "${at} + ${length}")
string(SUBSTRING "${page}" 0 ${at} front)
string(SUBSTRING "${page}" ${behind} -1 back)

set(table "#include \"jobs/dedup/report/report_page.h\"\n\n")
foreach(part front back)
    file(WRITE ${TARGET}.part "${${part}}")
    file(READ ${TARGET}.part bytes HEX)
    string(LENGTH "${bytes}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
    string(APPEND table "const unsigned char report_page_${part}[] = {\n${bytes}\n};\n")
    string(APPEND table "const size_t report_page_${part}_size = ${size};\n\n")
endforeach()
file(REMOVE ${TARGET}.part)
file(WRITE ${TARGET} "${table}")
