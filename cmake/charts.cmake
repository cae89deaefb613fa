# SPDX-License-Identifier: MIT OR Apache-2.0
# The charting library of the daemon's page, from npm: the version and digest that src/server/page/package-lock.json names.
# CUZK_NPM: AUTO takes it where npm is there and has it, ON insists, OFF leaves it out.
#
#   cuzk_charts(FOLDER)
#
# puts uPlot.js and uPlot.css, with their license, into FOLDER of the build; without the library they are a comment each, and the
# page has tables and SVG only. Sets CUZK_HAVE_CHARTS.
set(CUZK_NPM AUTO CACHE STRING "charts in the daemon's page, by npm: AUTO, ON or OFF")
set(CUZK_PAGE_FOLDER ${CMAKE_CURRENT_LIST_DIR}/../src/server/page)

# Unchanged files keep their times: nothing is linked anew.
function(cuzk_charts_write FILE TEXT)
  file(WRITE ${FILE}.new "${TEXT}")
  file(COPY_FILE ${FILE}.new ${FILE} ONLY_IF_DIFFERENT)
endfunction()

# Why there is no library, or an empty string.
function(cuzk_charts_fetch FOLDER REASON)
  set(${REASON} "" PARENT_SCOPE)
  if(CUZK_NPM STREQUAL "OFF")
    set(${REASON} "CUZK_NPM is OFF" PARENT_SCOPE)
    return()
  endif()
  if(CUZK_NPM STREQUAL "AUTO" AND CUZK_SANITIZE)
    set(${REASON} "not in sanitizer builds" PARENT_SCOPE) # whose tests see the page without it
    return()
  endif()
  find_program(CUZK_NPM_PROGRAM npm)
  if(NOT CUZK_NPM_PROGRAM)
    set(${REASON} "npm not found" PARENT_SCOPE)
    return()
  endif()
  set(DIST ${FOLDER}/npm/node_modules/uplot)
  file(SHA256 ${CUZK_PAGE_FOLDER}/package-lock.json LOCK)
  set(HAS "")
  if(EXISTS ${FOLDER}/npm/has)
    file(READ ${FOLDER}/npm/has HAS)
  endif()
  if(NOT HAS STREQUAL LOCK)
    file(COPY ${CUZK_PAGE_FOLDER}/package.json ${CUZK_PAGE_FOLDER}/package-lock.json DESTINATION ${FOLDER}/npm)
    execute_process(COMMAND ${CUZK_NPM_PROGRAM} ci --ignore-scripts --no-audit --no-fund --no-update-notifier
        --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=30000 --loglevel=error
      WORKING_DIRECTORY ${FOLDER}/npm TIMEOUT 120 RESULT_VARIABLE RESULT OUTPUT_VARIABLE TEXT ERROR_VARIABLE TEXT)
    if(NOT RESULT EQUAL 0)
      string(REGEX REPLACE "[\r\n].*" "" TEXT "${TEXT}")
      set(${REASON} "npm ci failed (${RESULT}): ${TEXT}" PARENT_SCOPE)
      return()
    endif()
  endif()
  foreach(FILE LICENSE dist/uPlot.iife.min.js dist/uPlot.min.css)
    if(NOT EXISTS ${DIST}/${FILE})
      set(${REASON} "uplot has no ${FILE}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  file(READ ${DIST}/LICENSE LICENSE)
  file(READ ${DIST}/dist/uPlot.iife.min.js JS)
  file(READ ${DIST}/dist/uPlot.min.css CSS)
  cuzk_charts_write(${FOLDER}/uPlot.js "/*! uPlot\n\n${LICENSE}\n*/\n${JS}")
  cuzk_charts_write(${FOLDER}/uPlot.css "/*! uPlot\n\n${LICENSE}\n*/\n${CSS}")
  file(WRITE ${FOLDER}/npm/has ${LOCK})
endfunction()

macro(cuzk_charts FOLDER)
  cuzk_charts_fetch(${FOLDER} CUZK_CHARTS_REASON)
  set(CUZK_HAVE_CHARTS ON)
  if(CUZK_CHARTS_REASON)
    if(CUZK_NPM STREQUAL "ON")
      message(FATAL_ERROR "page: CUZK_NPM is ON, but: ${CUZK_CHARTS_REASON}")
    endif()
    set(CUZK_HAVE_CHARTS OFF)
    cuzk_charts_write(${FOLDER}/uPlot.js "/* built without it */\n")
    cuzk_charts_write(${FOLDER}/uPlot.css "/* built without it */\n")
    message(STATUS "page: without charts: ${CUZK_CHARTS_REASON}")
  else()
    message(STATUS "page: with charts")
  endif()
endmacro()

# cmake -DFOLDER=... [-DCUZK_NPM=...] -P charts.cmake: the same by itself
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cuzk_charts(${FOLDER})
endif()
