# SPDX-License-Identifier: MIT OR Apache-2.0
# The program of the daemon and its clients, and the library that it and the tests' program share.
# Included when all layers are known: what it needs may be missing, and then there is no such
# program. Sets CUZK_HAVE_SERVER.
set(CUZK_HAVE_SERVER OFF)
set(S ${CMAKE_SOURCE_DIR}/src/server)
set(MISSING "")
foreach(LAYER cuzk_config cuzk_http_circom cuzk_rpc_start cuzk_work cuzk_engine cuzk_journal)
  if(NOT TARGET ${LAYER})
    list(APPEND MISSING ${LAYER})
  endif()
endforeach()
find_library(CUZK_SYSTEMD systemd)
if(NOT CUZK_SYSTEMD)
  list(APPEND MISSING libsystemd-dev)
endif()
if(MISSING OR CMAKE_CROSSCOMPILING OR CUZK_FUZZ)
  string(REPLACE ";" " " MISSING "${MISSING}")
  message(STATUS "server: cuzk-server is not built (missing: ${MISSING})")
  return()
endif()
set(CUZK_HAVE_SERVER ON)

cuzk_layer(cuzk_restart SOURCES ${S}/systemd.c ${S}/restart.c DEPS cuzk_base ${CUZK_SYSTEMD})
# The page, embedded: what the daemon needs is in the program.
set(PAGE index.html page.js charts.js page.css icon.svg)
list(TRANSFORM PAGE PREPEND ${S}/page/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${S}/page/package-lock.json)
cuzk_charts(${CMAKE_BINARY_DIR}/page)
list(APPEND PAGE ${CMAKE_BINARY_DIR}/page/uPlot.js ${CMAKE_BINARY_DIR}/page/uPlot.css)
set(PAGE_C ${CMAKE_BINARY_DIR}/page.c)
add_custom_command(OUTPUT ${PAGE_C}
  COMMAND ${CMAKE_COMMAND} -DOUT=${PAGE_C} "-DFILES=${PAGE}" -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${PAGE} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake COMMENT "Page" VERBATIM)

cuzk_layer(cuzk_daemon
  SOURCES ${S}/commands.c ${S}/cmd_config.c ${S}/config_try.c ${S}/options.c ${S}/serve.c ${S}/daemon.c ${S}/observe.c
          ${S}/routes.c ${S}/http_admin.c ${S}/preload.c ${S}/live.c ${PAGE_C}
  DEPS cuzk_rpc_start cuzk_http_circom cuzk_http cuzk_metrics cuzk_log cuzk_config cuzk_work cuzk_engine cuzk_journal cuzk_api cuzk_otel cuzk_record cuzk_recent cuzk_timeline
       cuzk_restart ${CUZK_SYSTEMD})
if(TARGET cuzk_client)
  target_link_libraries(cuzk_daemon PUBLIC cuzk_client)
endif()
target_compile_definitions(cuzk_daemon PRIVATE CUZK_HAVE_CLIENT=$<BOOL:${CUZK_HAVE_CLIENT}>
  CUZK_HAVE_CHARTS=$<BOOL:${CUZK_HAVE_CHARTS}>)

add_executable(cuzk-server ${S}/main.c)
# pkg-config lists all that gRPC itself is made of: only what is used is loaded at start
target_link_options(cuzk-server PRIVATE -Wl,--as-needed)
target_link_libraries(cuzk-server PRIVATE cuzk_daemon cuzk_faults_none)
set_target_properties(cuzk-server PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
include(GNUInstallDirs)
install(TARGETS cuzk-server RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cuzk)

# The unit names the installed program: written when it is installed, since only then the prefix is
# known for sure. The one in the build folder is for tests.
set(CUZK_UNIT_BINDIR ${CMAKE_INSTALL_FULL_BINDIR})
set(CUZK_UNIT_DOCDIR ${CMAKE_INSTALL_FULL_DOCDIR})
configure_file(${CMAKE_SOURCE_DIR}/dist/systemd/cuzk.service.in ${CMAKE_BINARY_DIR}/cuzk.service @ONLY)
install(CODE "set(CUZK_UNIT_BINDIR \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR})
  set(CUZK_UNIT_DOCDIR \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR})
  configure_file(${CMAKE_SOURCE_DIR}/dist/systemd/cuzk.service.in ${CMAKE_BINARY_DIR}/install/cuzk.service @ONLY)
  file(INSTALL ${CMAKE_BINARY_DIR}/install/cuzk.service
    DESTINATION \${CMAKE_INSTALL_PREFIX}/lib/systemd/system)")
install(FILES ${CMAKE_SOURCE_DIR}/dist/systemd/cuzk.socket DESTINATION lib/systemd/system)
install(FILES ${CMAKE_SOURCE_DIR}/dist/systemd/cuzk.sysusers DESTINATION lib/sysusers.d RENAME cuzk.conf)
install(FILES ${CMAKE_SOURCE_DIR}/examples/cuzk.toml DESTINATION ${CMAKE_INSTALL_DOCDIR})
