# Systems in Rust: crates of Cargo's. Their dependencies come from crates.io, once, at the versions of the Cargo.lock beside
# them. Cargo compiles them once for all presets, for no C++ compiler matters to them.

# teff_find_crates(CRATE): of a folder with a Cargo.toml. Leaves the system out where there is no Cargo, or where its crates
# can't be had. Sets TEFF_CRATE_VERSION, as "lake 1.2", to the version of CRATE. A macro, as teff_skip_system is.
macro(teff_find_crates crate)
  find_program(TEFF_CARGO cargo)
  if(NOT TEFF_CARGO)
    teff_skip_system("cargo is not here")
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env CARGO_NET_RETRY=1 CARGO_HTTP_TIMEOUT=20
            ${TEFF_CARGO} fetch --locked --quiet --manifest-path Cargo.toml
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    RESULT_VARIABLE teff_failed OUTPUT_QUIET ERROR_QUIET TIMEOUT 120)
  if(NOT teff_failed EQUAL 0)
    teff_skip_system("${crate} wants crates.io and cargo 1.80: try cargo fetch --locked in ${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  file(STRINGS Cargo.lock teff_lock)
  string(REGEX MATCH "name = \"${crate}\";version = \"([0-9.]+)\"" teff_found "${teff_lock}")
  set(TEFF_CRATE_VERSION "${crate} ${CMAKE_MATCH_1}")
endmacro()

# teff_add_crate(PACKAGE [FOLDER]): PACKAGE is a static library, for C++ a library of that name, whose users know
# TEFF_CRATE_VERSION. FOLDER has a crate of this project that it uses.
function(teff_add_crate package)
  teff_make_crate(file ${package} lib${package}.a "${ARGN}")
  add_custom_target(${package}_crate DEPENDS ${file})
  add_library(${package} STATIC IMPORTED)
  add_dependencies(${package} ${package}_crate)
  set_target_properties(${package} PROPERTIES
    IMPORTED_LOCATION ${file}
    INTERFACE_COMPILE_DEFINITIONS "TEFF_CRATE_VERSION=\"${TEFF_CRATE_VERSION}\""
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS};m")
endfunction()

# teff_add_crate_program(PACKAGE): PACKAGE is a program of an adapter for task graphs: it uses bench/task_graph/rust. Finds
# TEFF_CRATE_VERSION in its environment when it is compiled.
function(teff_add_crate_program package)
  set(program "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${package}")
  teff_make_crate(made ${package} ${package} "${PROJECT_SOURCE_DIR}/bench/task_graph/rust"
    COPY ${program} NEEDS teff_bench_c
    FLAGS -L $<TARGET_FILE_DIR:teff_bench_c> -C "link-arg=-Wl,-rpath,\$ORIGIN/../lib")
  teff_add_foreign_program(${package} DEPENDS ${program})
endfunction()

# Adds the command that makes PACKAGE, and sets <result> to the file. A COPY is this preset's: FLAGS are for its compiler
# alone, not for the crates that it needs. FOLDER, which may be empty, has a crate of this project that it uses.
function(teff_make_crate result package product folder)
  cmake_parse_arguments(PARSE_ARGV 4 make "" "COPY" "NEEDS;FLAGS")
  get_filename_component(system "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(target "${PROJECT_SOURCE_DIR}/.teff/crates/${system}")
  set(file "${target}/release/${product}")
  set(copy "")
  if(make_COPY)
    set(copy COMMAND ${CMAKE_COMMAND} -E copy ${file} ${make_COPY})
    set(file ${make_COPY})
  endif()
  set(patterns *.rs Cargo.toml Cargo.lock)
  if(folder)
    list(APPEND patterns "${folder}/*.rs" "${folder}/Cargo.toml")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  add_custom_command(
    OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E env "TEFF_CRATE_VERSION=${TEFF_CRATE_VERSION}"
            ${TEFF_CARGO} rustc --release --locked --offline --quiet --target-dir ${target} --package ${package}
            -- ${make_FLAGS}
    ${copy}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    DEPENDS ${sources} ${make_NEEDS}
    VERBATIM)
  set(${result} "${file}" PARENT_SCOPE)
endfunction()
