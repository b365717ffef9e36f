# Debian packages of libteff: cpack -G DEB. A shared library has its package, libteff0.1; all else is in libteff-dev.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libteff)
set(CPACK_PACKAGE_CONTACT "The Teff authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "C++20 runtime for small tasks: fork-join, loops, task graphs, messages")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_COMPONENTS_ALL libteff)
set(CPACK_DEBIAN_LIBTEFF_PACKAGE_NAME libteff-dev)
set(CPACK_DEBIAN_LIBTEFF_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBTEFF_PACKAGE_DEPENDS libhwloc-dev) # teff.pc names it
if(BUILD_SHARED_LIBS)
  set(library "libteff${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  list(APPEND CPACK_COMPONENTS_ALL libteff_shared)
  set(CPACK_DEBIAN_LIBTEFF_SHARED_PACKAGE_NAME "${library}")
  set(CPACK_DEBIAN_LIBTEFF_SHARED_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBTEFF_SHARED_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_CURRENT_BINARY_DIR}") # libteff_mpi needs libteff
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and has dpkg call ldconfig
  string(APPEND CPACK_DEBIAN_LIBTEFF_PACKAGE_DEPENDS ", ${library} (= ${PROJECT_VERSION})")
endif()
include(CPack)
