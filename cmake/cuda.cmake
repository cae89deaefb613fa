# SPDX-License-Identifier: MIT OR Apache-2.0
# The optional CUDA part. CUZK_CUDA: AUTO builds it where nvcc works, ON insists, OFF leaves it out.
# CUZK_CUDA_ARCHITECTURES: compute capabilities that get machine code, or "release" for all of them
# and PTX for later ones. Sets CUZK_HAVE_CUDA.
#
#   cuzk_cuda_images(TARGET SOURCE kernels.cu [CURVES ...])
#
# compiles SOURCE once per curve (all of them by default) to a fat binary and embeds it in TARGET as the read-only symbol
# cuzk_image_<stem>_<curve> (backend/cuda/image.h).
set(CUZK_CUDA AUTO CACHE STRING "build the CUDA part: AUTO, ON or OFF")
set(CUZK_CUDA_ARCHITECTURES 90 CACHE STRING "compute capabilities, or release")
set(CUZK_CUDA_RELEASE_ARCHITECTURES 75 80 86 89 90 100 120) # nvcc 13 builds for no older card
set(CUZK_HAVE_CUDA OFF)

# Why the CUDA part is left out, or an empty string; sets CUZK_NVCC and CUZK_CUDA_INCLUDE.
function(cuzk_cuda_probe REASON)
  set(${REASON} "" PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING OR CUZK_SANITIZE OR CUZK_FUZZ)
    set(${REASON} "not in cross, sanitizer and fuzz builds" PARENT_SCOPE)
    return()
  endif()
  find_program(CUZK_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(NOT CUZK_NVCC)
    set(${REASON} "no nvcc found" PARENT_SCOPE)
    return()
  endif()
  get_filename_component(REAL ${CUZK_NVCC} REALPATH)
  get_filename_component(BIN ${REAL} DIRECTORY)
  find_path(CUZK_CUDA_INCLUDE cuda.h PATHS ${BIN}/../include ${BIN}/../targets/x86_64-linux/include)
  if(NOT CUZK_CUDA_INCLUDE)
    set(${REASON} "no cuda.h found beside ${CUZK_NVCC}" PARENT_SCOPE)
    return()
  endif()
  # with the kernels' options: an nvcc that does not know a card is found out here, not in mid-build
  set(COMMAND ${CUZK_NVCC} -fatbin ${CUZK_CUDA_GENCODE})
  if(NOT CUZK_NVCC_WORKS STREQUAL COMMAND)
    file(WRITE ${CMAKE_BINARY_DIR}/probe.cu "__global__ void probe(int *p) { *p = 1; }\n")
    execute_process(COMMAND ${COMMAND} ${CMAKE_BINARY_DIR}/probe.cu -o ${CMAKE_BINARY_DIR}/probe.fatbin
      RESULT_VARIABLE RESULT OUTPUT_VARIABLE TEXT ERROR_VARIABLE TEXT)
    if(NOT RESULT EQUAL 0)
      set(${REASON} "${CUZK_NVCC} does not compile for architectures ${ARCHITECTURES}; the variable NVCC_CCBIN \
names it another host compiler, CUZK_CUDA_ARCHITECTURES other architectures. It says: ${TEXT}" PARENT_SCOPE)
      return()
    endif()
    set(CUZK_NVCC_WORKS "${COMMAND}" CACHE INTERNAL "the nvcc that passed the probe, with its options")
  endif()
endfunction()

if(CUZK_CUDA_ARCHITECTURES STREQUAL "release")
  set(ARCHITECTURES ${CUZK_CUDA_RELEASE_ARCHITECTURES})
  list(GET ARCHITECTURES -1 NEWEST)
  # PTX for cards that are newer still, which their driver compiles; and files a third as large
  set(CUZK_CUDA_GENCODE -gencode arch=compute_${NEWEST},code=compute_${NEWEST} --compress-mode=size)
else()
  set(ARCHITECTURES ${CUZK_CUDA_ARCHITECTURES})
  set(CUZK_CUDA_GENCODE "")
endif()
foreach(A ${ARCHITECTURES})
  list(APPEND CUZK_CUDA_GENCODE -gencode arch=compute_${A},code=sm_${A})
endforeach()

if(NOT CUZK_CUDA STREQUAL "OFF")
  cuzk_cuda_probe(CUZK_CUDA_MISSING)
  if(CUZK_CUDA_MISSING AND CUZK_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CUDA: asked for, but ${CUZK_CUDA_MISSING}")
  elseif(CUZK_CUDA_MISSING)
    message(STATUS "CUDA: not built, ${CUZK_CUDA_MISSING}")
  else()
    set(CUZK_HAVE_CUDA ON)
    message(STATUS "CUDA: ${CUZK_NVCC}, architectures ${ARCHITECTURES}")
  endif()
else()
  message(STATUS "CUDA: not built, CUZK_CUDA is OFF")
endif()

function(cuzk_cuda_images TARGET)
  cmake_parse_arguments(I "" "SOURCE" "CURVES" ${ARGN})
  if(NOT I_CURVES)
    set(I_CURVES bn254 bls12_381)
  endif()
  set(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/${I_SOURCE})
  get_filename_component(STEM ${I_SOURCE} NAME_WE)
  foreach(CURVE ${I_CURVES})
    set(FATBIN ${CMAKE_CURRENT_BINARY_DIR}/${STEM}_${CURVE}.fatbin)
    set(IS_BN254 0)
    set(IS_BLS12_381 0)
    string(TOUPPER ${CURVE} UP)
    set(IS_${UP} 1)
    add_custom_command(OUTPUT ${FATBIN} DEPENDS ${SOURCE} DEPFILE ${FATBIN}.d
      COMMAND ${CUZK_NVCC} -fatbin -O3 -std=c++17 ${CUZK_CUDA_GENCODE}
        -I${CMAKE_SOURCE_DIR}/src -DCUZK_CURVE_IS_BN254=${IS_BN254}
        -DCUZK_CURVE_IS_BLS12_381=${IS_BLS12_381} -MD -MF ${FATBIN}.d ${SOURCE} -o ${FATBIN}
      COMMENT "CUDA kernels ${STEM} ${CURVE}" VERBATIM)
    set(EMBED ${CMAKE_CURRENT_BINARY_DIR}/${STEM}_${CURVE}_image.c)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/cuda_image.c.in ${EMBED} @ONLY)
    set_source_files_properties(${EMBED} PROPERTIES OBJECT_DEPENDS ${FATBIN})
    # a library of its own: otherwise the kernels wait for everything that TARGET links
    add_library(${TARGET}_${STEM}_${CURVE} OBJECT ${EMBED})
    target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:${TARGET}_${STEM}_${CURVE}>)
  endforeach()
endfunction()
