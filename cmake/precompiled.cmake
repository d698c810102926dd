# Precompiles headers in the builds with sanitizers. Clang compiles these builds, and only the tests
# use them. The headers that most sources include are parsed once, and all sources share the result.
# This more than halves the time of the build. The other builds do not precompile headers. So the
# preset "dev", which compiles each source by itself, fails if a source lacks an include.
if(ASSAY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(ASSAY_PRECOMPILE ON)
  # Libraries and programs get the same option. Otherwise a program could not use the headers that
  # were parsed for a library.
  target_compile_options(assay_flags INTERFACE -fPIC)
  if(CCACHE)
    # ccache works with precompiled headers only with these settings. They state that no macro of a
    # source changes the headers.
    set(sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${sloppiness} ${CCACHE})
    target_compile_options(assay_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
else()
  set(ASSAY_PRECOMPILE OFF)
endif()

# assay_precompile(NAME HEADERS...) adds a target that parses the common headers and HEADERS. Other
# targets use the parsed headers.
function(assay_precompile name)
  if(NOT ASSAY_PRECOMPILE)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc
    CONTENT "// This file is empty. The target exists for its headers.\n")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE assay_flags nlohmann_json::nlohmann_json)
  target_precompile_headers(${name} PRIVATE
    <algorithm> <chrono> <condition_variable> <filesystem> <fstream> <functional> <map> <memory>
    <mutex> <optional> <set> <string> <thread> <vector> ${CMAKE_SOURCE_DIR}/base/json.h ${ARGN})
endfunction()

# assay_use_precompiled(TARGET NAME)
function(assay_use_precompiled target name)
  if(ASSAY_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

assay_precompile(assay_precompiled)
