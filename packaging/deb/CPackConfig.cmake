# Describes the Debian package. packaging/build.sh runs CPack with this file:
#   ASSAY_STAGE=DIR ASSAY_VERSION=0.1.0 ASSAY_GLIBC=36 cpack --config .../CPackConfig.cmake
# DIR has the files of the package, below their places in the system.
set(CPACK_GENERATOR DEB)
set(CPACK_INSTALLED_DIRECTORIES "$ENV{ASSAY_STAGE};/")
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "The authors of Assay")
set(CPACK_PACKAGE_VERSION $ENV{ASSAY_VERSION})
set(CPACK_PACKAGE_FILE_NAME assay_$ENV{ASSAY_VERSION}_amd64)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "MCP server through which any LLM agent writes GPU kernels and is scored")
set(CPACK_PACKAGE_DESCRIPTION
  "Assay judges kernels in Triton, its dialects and CUDA C++, in a sandbox, on a GPU or \
without one. `assay setup` installs PyTorch and Triton.")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES OFF)  # the staged files are stripped
set(CPACK_DEBIAN_PACKAGE_NAME assay)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The authors of Assay <maintainers@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# All other libraries are in the package. `assay setup` needs Python with venv.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.$ENV{ASSAY_GLIBC}), python3 (>= 3.10), python3-venv")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/postinst"
  "${CMAKE_CURRENT_LIST_DIR}/prerm" "${CMAKE_CURRENT_LIST_DIR}/postrm"
  "${CMAKE_CURRENT_LIST_DIR}/conffiles")
