#pragma once

#include <parsec/runtime.h>

#include <string>

/// The threads that this rank executes tasks with.
inline int parsec_workers(parsec_context_t* context) {
  return parsec_context_query(context, PARSEC_CONTEXT_QUERY_CORES);
}

/// As PaRSEC itself says it.
inline std::string parsec_release() {
  int major = 0;
  int minor = 0;
  int release = 0;
  parsec_version(&major, &minor, &release);
  return "PaRSEC " + std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
}
