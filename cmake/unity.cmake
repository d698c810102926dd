# Each folder is compiled as one file, which halves the processor time of a build, and small folders
# of one target are compiled together. So the headers that the sources include are parsed once, and
# templates that several sources use are compiled once. The preset "dev" compiles each source by
# itself, so that a change of one source compiles only that source.
option(ASSAY_UNITY "Compile several sources as one file" ON)

# Each entry names folders that are compiled together. No two folders of an entry define the same
# name, not even in unnamed namespaces. The sources of an entry have at most 3200 lines, so that a
# compiler needs less than 2 GiB and two compilers end at about the same time. A folder that no
# entry names is a file by itself.
set(ASSAY_TOGETHER
  "reference_agents/core reference_agents/llm reference_agents/leader reference_agents/sim\
 reference_agents/registry reference_agents/one_shot reference_agents/alphaevolve\
 reference_agents/geak"
  "sandbox/launcher/plan sandbox/launcher/memory sandbox/launcher/timing"
  "sandbox/launcher/process sandbox/launcher/replay"
  "sandbox/gpu sandbox/job sandbox/judging"
  "sandbox/device sandbox/profile"
  "sandbox/record sandbox/timing sandbox/sanitize"
  "server/mcp/core server/mcp/schema"
  "server/mcp/client server/mcp/oauth"
  "server/mcp/protocol server/mcp/stdio"
  "tools tools/resources tools/json"
  "tools/answer tools/model"
  "server/workers server/imports"
  "server/store server/commands/shell"
  "server/runs server/report/model"
  "server/app server/commands/export"
  "server/bench server/site"
  "server/observe server/conformance server/report/text"
  "tests/reference_agents/core tests/reference_agents/sim tests/reference_agents/registry\
 tests/reference_agents/alphaevolve tests/reference_agents/geak"
  "tests/sandbox/device tests/sandbox/sanitize"
  "tests/sandbox/pool tests/sandbox/profile"
  "tests/sandbox/gpu tests/sandbox/record tests/sandbox/timing"
  "tests/sandbox/job tests/sandbox/launch tests/sandbox/judging"
  "tests/server/mcp/core tests/server/mcp/protocol tests/server/mcp/schema"
  "tests/server/mcp/oauth tests/server/mcp/client tests/server/mcp/stdio"
  "tests/tools/model tests/tools/call tests/tools/json tests/tools"
  "tests/server/store tests/server/lint"
  "tests/server/workers tests/server/commands tests/server/edge tests/server/imports"
  "tests/server/app tests/server/site tests/server/bench"
  "tests/server/report/model tests/server/evaluate"
  "tests/server/report/text tests/server/observe")
foreach(line ${ASSAY_TOGETHER})
  string(REPLACE " " ";" folders "${line}")
  list(GET folders 0 first)
  foreach(folder ${folders})
    set(ASSAY_UNIT_OF_${folder} ${first})
  endforeach()
endforeach()

# assay_unity(TARGET SOURCES...) compiles the SOURCES of each entry as one file.
function(assay_unity name)
  if(NOT ASSAY_UNITY)
    return()
  endif()
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    if(DEFINED ASSAY_UNIT_OF_${folder})
      set(folder ${ASSAY_UNIT_OF_${folder}})
    endif()
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} TARGET_DIRECTORY ${name} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
