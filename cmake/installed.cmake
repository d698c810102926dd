# Says what an installed Assay consists of. A wheel and a Debian package install the same folder;
# server/app/install_layout.h describes it:
#   bin/       assay, assay-jail, assay-launcher
#   lib/       the libraries of assay
#   harness/   the native module, for each Python of the package, and the fake CUDA guard
#   operators/, sandbox/harness/, ...   the files that the programs read, as in the source tree
set(ASSAY_INSTALL_DIR . CACHE STRING "Folder of the installed Assay, relative to the prefix")

# DT_RPATH also serves the libraries of the libraries. DT_RUNPATH would not.
set_target_properties(assay PROPERTIES INSTALL_RPATH "\$ORIGIN/../lib")
if(ASSAY_PACKAGE)
  target_link_options(assay PRIVATE LINKER:--disable-new-dtags)
endif()
install(TARGETS assay assay-jail assay-launcher
  RUNTIME DESTINATION ${ASSAY_INSTALL_DIR}/bin COMPONENT assay)
if(ASSAY_PACKAGE)
  # Copies the libraries under the names by which programs find them. A wheel has no symbolic links.
  # glibc is left out: it belongs to the machine.
  install(CODE "
    set(ASSAY_PROGRAM \"$<TARGET_FILE:assay>\")
    set(ASSAY_LIBRARIES \"\${CMAKE_INSTALL_PREFIX}/${ASSAY_INSTALL_DIR}/lib\")
    include(\"${CMAKE_SOURCE_DIR}/cmake/copy_libraries.cmake\")" COMPONENT assay)
endif()
if(TARGET _native)
  install(TARGETS ${ASSAY_NATIVE_MODULES} assay_fake_cuda_guard
    LIBRARY DESTINATION ${ASSAY_INSTALL_DIR}/harness COMPONENT assay)
endif()

# assay_install_data(FOLDER PATTERNS...) installs the files of a folder that match a pattern.
function(assay_install_data folder)
  set(patterns)
  foreach(pattern ${ARGN})
    list(APPEND patterns PATTERN ${pattern})
  endforeach()
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder}/ DESTINATION ${ASSAY_INSTALL_DIR}/${folder}
    COMPONENT assay FILES_MATCHING ${patterns} PATTERN __pycache__ EXCLUDE)
endfunction()

assay_install_data(operators *.py *.toml *.md)
assay_install_data(sandbox/harness *.py)
assay_install_data(sandbox/harness/cuda_cpp/include *)
assay_install_data(importers *.py)
# The commands `export` use it, and a Debian package has no other copy.
assay_install_data(python *.py py.typed)
assay_install_data(metrics *.py)
assay_install_data(reference_agents *.py *.toml *.md)
assay_install_data(server/commands/demo *.py)
assay_install_data(site/dist *)
assay_install_data(packaging make_python.py)
# The manual page and the completions, which the program itself prints, and the AppArmor profile. A
# wheel installs them below the environment's share/. packaging/build.sh makes those of the Debian
# package.
if(SKBUILD_DATA_DIR)
  foreach(page "man-page:man/man1/assay.1"
      "completion bash:bash-completion/completions/assay"
      "completion zsh:zsh/site-functions/_assay"
      "completion fish:fish/vendor_completions.d/assay.fish")
    string(REGEX REPLACE ":.*" "" words ${page})
    string(REGEX REPLACE ".*:" "" file ${page})
    install(CODE "
      set(file \"${SKBUILD_DATA_DIR}/share/${file}\")
      get_filename_component(folder \${file} DIRECTORY)
      file(MAKE_DIRECTORY \${folder})
      string(REPLACE \" \" \";\" words \"${words}\")
      execute_process(COMMAND $<TARGET_FILE:assay> \${words} OUTPUT_FILE \${file}
        COMMAND_ERROR_IS_FATAL ANY)" COMPONENT assay_shell)
  endforeach()
  # docs/how-to/install.md says when a user needs the profile.
  install(FILES ${CMAKE_SOURCE_DIR}/packaging/deb/apparmor
    DESTINATION ${SKBUILD_DATA_DIR}/share/assay COMPONENT assay_shell)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/requirements.txt
  DESTINATION ${ASSAY_INSTALL_DIR} COMPONENT assay)
