# SPDX-License-Identifier: MIT OR Apache-2.0
# One static library per layer: a source that includes or calls a layer that its own layer does not
# name in DEPS fails to link.
#
#   cuzk_layer(NAME SOURCES a.c b.c DEPS cuzk_base ...)
#   cuzk_layer_curves(NAME SOURCE impl.c PATHS portable adx ... [CURVES bls12_381])
#
# The second builds SOURCE once per curve (default: both) and CPU path into the layer. The source sees
# CUZK_CURVE_IS_BN254 or CUZK_CURVE_IS_BLS12_381, and one of CUZK_PATH_IS_PORTABLE,
# CUZK_PATH_IS_ADX, CUZK_PATH_IS_IFMA, CUZK_PATH_IS_IFMA_EMULATED, defined to 1, the others to 0;
# and CUZK_INSTANCE(name), which makes a symbol unique: CUZK_INSTANCE(curve) is
# cuzk_bn254_adx_curve.
option(CUZK_X86_PATHS "build the adx and ifma paths where the processor is an x86-64" ON)
set(CUZK_X86 OFF)
if(CUZK_X86_PATHS AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(CUZK_X86 ON)
  add_compile_definitions(CUZK_HAVE_X86_PATHS=1)
else()
  add_compile_definitions(CUZK_HAVE_X86_PATHS=0)
endif()

function(cuzk_layer NAME)
  cmake_parse_arguments(L "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${NAME} STATIC ${L_SOURCES})
  target_link_libraries(${NAME} PUBLIC ${L_DEPS})
endfunction()

function(cuzk_layer_curves NAME)
  cmake_parse_arguments(L "" "SOURCE" "PATHS;CURVES" ${ARGN})
  if(NOT L_CURVES)
    set(L_CURVES bn254 bls12_381)
  endif()
  get_filename_component(STEM ${L_SOURCE} NAME_WE)
  foreach(CURVE ${L_CURVES})
    foreach(CPU_PATH ${L_PATHS})
      if((CPU_PATH STREQUAL "adx" OR CPU_PATH STREQUAL "ifma") AND NOT CUZK_X86)
        continue()
      endif()
      set(OBJ ${NAME}_${STEM}_${CURVE}_${CPU_PATH})
      string(REPLACE "-" "_" OBJ ${OBJ})
      add_library(${OBJ} OBJECT ${L_SOURCE})
      foreach(C BN254 BLS12_381)
        string(TOUPPER ${CURVE} UP)
        if(C STREQUAL UP)
          target_compile_definitions(${OBJ} PRIVATE CUZK_CURVE_IS_${C}=1)
        else()
          target_compile_definitions(${OBJ} PRIVATE CUZK_CURVE_IS_${C}=0)
        endif()
      endforeach()
      string(REPLACE "-" "_" PATH_SYMBOL ${CPU_PATH})
      string(TOUPPER ${PATH_SYMBOL} PUP)
      foreach(P PORTABLE ADX IFMA IFMA_EMULATED)
        if(P STREQUAL PUP)
          target_compile_definitions(${OBJ} PRIVATE CUZK_PATH_IS_${P}=1)
        else()
          target_compile_definitions(${OBJ} PRIVATE CUZK_PATH_IS_${P}=0)
        endif()
      endforeach()
      # an option, since CMake drops definitions of macros with arguments
      target_compile_options(${OBJ} PRIVATE
        "-DCUZK_INSTANCE(name)=cuzk_${CURVE}_${PATH_SYMBOL}_##name")
      if(CPU_PATH STREQUAL "adx")
        target_compile_options(${OBJ} PRIVATE -mbmi -mbmi2 -madx)
      elseif(CPU_PATH STREQUAL "ifma")
        target_compile_options(${OBJ} PRIVATE -mbmi -mbmi2 -madx -mavx2 -mavx512f -mavx512dq
          -mavx512bw -mavx512vl -mavx512ifma -mavx512vbmi -mprefer-vector-width=512)
      elseif(PATH_SYMBOL STREQUAL "ifma_emulated")
        # field/v8.h; and gcc for aarch64 takes lanes that loops fill one by one as not set. -O1: it
        # stands in for the vector code in tests, and more takes the compiler ten times as long
        target_compile_options(${OBJ} PRIVATE -O1 -Wno-psabi -Wno-uninitialized
          $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
      endif()
      if(CUZK_SANITIZE AND CPU_PATH STREQUAL "ifma")
        # instrumented vector code takes the compiler minutes; the emulated lanes are the same code
        target_compile_options(${OBJ} PRIVATE -fno-sanitize=all)
      elseif(CUZK_FUZZ OR (CUZK_SANITIZE AND PATH_SYMBOL STREQUAL "ifma_emulated"))
        # so do undefined-behaviour checks on every lane, and with clang on any inlined arithmetic;
        # what is fuzzed are the decoders
        target_compile_options(${OBJ} PRIVATE -fno-sanitize=undefined)
      endif()
      target_sources(${NAME} PRIVATE $<TARGET_OBJECTS:${OBJ}>)
    endforeach()
  endforeach()
endfunction()
