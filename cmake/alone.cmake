# Says how the programs of a package are linked. A package runs on machines that lack the libraries
# of the machine that built it, and has no folder of libraries inside the jail. So `assay` has its
# libraries in a folder beside it (cmake/installed.cmake), and what runs in a jail contains its
# libraries. Both need only glibc from the machine. Other builds use the machine's libraries.

find_library(SECCOMP_LIBRARY seccomp REQUIRED)
set(ASSAY_SECCOMP ${SECCOMP_LIBRARY})
set(ASSAY_CRYPTO OpenSSL::Crypto)
if(ASSAY_PACKAGE)
  find_library(SECCOMP_ARCHIVE libseccomp.a REQUIRED)
  find_library(CRYPTO_ARCHIVE libcrypto.a REQUIRED)
  # The programs that link a library decide which form they get.
  set(is_alone $<BOOL:$<TARGET_PROPERTY:ASSAY_ALONE>>)
  set(ASSAY_SECCOMP $<IF:${is_alone},${SECCOMP_ARCHIVE},${SECCOMP_LIBRARY}>)
  set(ASSAY_CRYPTO $<IF:${is_alone},${CRYPTO_ARCHIVE},OpenSSL::Crypto>)
endif()

# assay_alone(TARGET): in a package, the target contains every library that it needs except glibc.
function(assay_alone name)
  if(NOT ASSAY_PACKAGE)
    return()
  endif()
  set_target_properties(${name} PROPERTIES ASSAY_ALONE ON)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc LINKER:--exclude-libs,ALL)
endfunction()
