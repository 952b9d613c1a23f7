# The Python package: the extension module, the library and the program that it comes with, for scikit-build-core
# (pyproject.toml). The module and the program share one library, which lies next to them.
option(COGNATE_PYTHON "Build the Python package's parts" OFF)
option(COGNATE_BUNDLE "Python: link the dependencies statically where that is possible" OFF)
set(COGNATE_ARCHIVE "" CACHE FILEPATH "Python: a libcognate.a of this tree, so that nothing is compiled again")
if(NOT COGNATE_PYTHON)
    return()
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

if(COGNATE_ARCHIVE)
    add_library(python-library SHARED ${COGNATE_ARCHIVE})
    target_link_options(python-library PRIVATE -Wl,--whole-archive ${COGNATE_ARCHIVE} -Wl,--no-whole-archive)
    set_target_properties(python-library PROPERTIES LINK_DEPENDS ${COGNATE_ARCHIVE})
else()
    add_library(python-library SHARED $<TARGET_OBJECTS:cognate-objects>)
endif()
target_include_directories(python-library PUBLIC include)
target_link_options(python-library PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map)
set_target_properties(python-library PROPERTIES OUTPUT_NAME cognate-bundled LINKER_LANGUAGE CXX)

if(COGNATE_BUNDLE)
    # What Debian has in a static form that a shared library can hold; auditwheel copies the others.
    set(BUNDLED libexpat.a libxxhash.a libzstd.a liblzma.a libz.a libstemmer.a)
    list(TRANSFORM BUNDLED PREPEND -l: OUTPUT_VARIABLE BUNDLED_LIBRARIES)
    list(JOIN BUNDLED : BUNDLED)
    target_link_libraries(python-library PRIVATE ${BUNDLED_LIBRARIES} icui18n icuuc simdjson cld2 bz2 Threads::Threads m)
    # Nothing of the static libraries is seen from outside, or mixed up with another copy in the process.
    target_link_options(python-library PRIVATE -Wl,--exclude-libs,${BUNDLED} -Wl,--gc-sections)
else()
    target_link_libraries(python-library PRIVATE PkgConfig::DEPS stemmer cld2 bz2 Threads::Threads m)
endif()

file(GLOB PYTHON_SOURCES CONFIGURE_DEPENDS python/extension/*.c)
add_library(python-module MODULE ${PYTHON_SOURCES})
target_compile_definitions(python-module PRIVATE Py_LIMITED_API=0x030b0000)
target_include_directories(python-module SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(python-module PRIVATE python-library Threads::Threads)
set_target_properties(python-module PROPERTIES OUTPUT_NAME _cognate PREFIX "" SUFFIX .abi3.so)

add_executable(python-program ${CLI_SOURCES})
target_link_libraries(python-program PRIVATE python-library Threads::Threads)
set_target_properties(python-program PROPERTIES OUTPUT_NAME cognate-program)

set_target_properties(python-module python-program PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS python-library python-module python-program COMPONENT python LIBRARY DESTINATION cognate
    RUNTIME DESTINATION cognate)

if(COGNATE_BUNDLE)
    foreach(package libicu-dev libexpat1-dev libxxhash-dev libzstd-dev liblzma-dev zlib1g-dev libbz2-dev libstemmer-dev
            libsimdjson-dev libcld2-dev liblingua-stopwords-perl)
        install(FILES /usr/share/doc/${package}/copyright DESTINATION cognate/licenses COMPONENT python
            RENAME ${package}.txt)
    endforeach()
endif()
