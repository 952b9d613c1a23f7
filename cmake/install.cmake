# Program, libraries, header, pkg-config file, man pages, completion. Man pages and completion are printed by the
# program itself, so they never differ from what it does.
include(GNUInstallDirs)
install(TARGETS cognate-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS cognate cognate-shared ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/cognate.h include/cognate_arrow.h include/cognate_batch.h
        include/cognate_crosslingual.h include/cognate_explain.h include/cognate_index.h include/cognate_live.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The pkg-config file names folders by where it lies itself, so that what is installed can be moved; not those that are
# given as absolute paths.
set(PKGCONFIG_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH PKGCONFIG_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(PREPEND PKGCONFIG_PREFIX "\${pcfiledir}/")
endif()
foreach(folder LIBDIR INCLUDEDIR)
    set(PKGCONFIG_${folder} ${CMAKE_INSTALL_${folder}})
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
        string(PREPEND PKGCONFIG_${folder} "\${prefix}/")
    endif()
endforeach()
configure_file(cmake/cognate.pc.in ${CMAKE_BINARY_DIR}/cognate.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cognate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Below the prefix that the installation is given, or absolute paths as they are.
foreach(folder MANDIR DATADIR)
    set(TARGET_${folder} ${CMAKE_INSTALL_${folder}})
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
        string(PREPEND TARGET_${folder} "\${CMAKE_INSTALL_PREFIX}/")
    endif()
endforeach()
install(CODE "
    set(program \"${CMAKE_BINARY_DIR}/cognate\")
    set(man \"\$ENV{DESTDIR}${TARGET_MANDIR}/man1\")
    file(MAKE_DIRECTORY \"\${man}\")
    foreach(completion bash:bash-completion/completions/cognate zsh:zsh/site-functions/_cognate
            fish:fish/vendor_completions.d/cognate.fish)
        string(REPLACE \":\" \";\" completion \"\${completion}\")
        list(GET completion 0 shell)
        list(GET completion 1 path)
        set(path \"\$ENV{DESTDIR}${TARGET_DATADIR}/\${path}\")
        get_filename_component(folder \"\${path}\" DIRECTORY)
        file(MAKE_DIRECTORY \"\${folder}\")
        execute_process(COMMAND \"\${program}\" help \${shell}-completion OUTPUT_FILE \"\${path}\"
            COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    execute_process(COMMAND \"\${program}\" help man OUTPUT_FILE \"\${man}/cognate.1\" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND \"\${program}\" help names OUTPUT_VARIABLE names OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE \"\\n\" \";\" names \"\${names}\")
    foreach(name IN LISTS names)
        execute_process(COMMAND \"\${program}\" help man \${name} OUTPUT_FILE \"\${man}/cognate-\${name}.1\"
            COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    message(STATUS \"Installing man pages: \${man}\")
")
