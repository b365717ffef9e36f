// The calls that a flow refuses, in words.
#include <teff/error.hpp>

#include "flow/flow_core.hpp"

#include <cstddef>
#include <string>

namespace teff::detail {

void refuse_section(std::size_t first, std::size_t count, std::size_t rows, std::size_t stride,
                    std::size_t size) {
  const std::string in_rows =
      rows == 1 ? "" : std::to_string(rows) + " rows, " + std::to_string(stride) + " elements apart, of ";
  throw misuse("teff::section: " + in_rows + std::to_string(count) + " elements from element " +
               std::to_string(first) + " on are not all in a range of " + std::to_string(size) +
               ": name elements that the range has");
}

void refuse_within_task(const char* call) {
  throw misuse(
      std::string(call) +
      ": called within a task of the same flow, whose end it would wait for: let the task end, which "
      "waits for the tasks made in it, and do the rest in a task that follows");
}

void flow_core::refuse_beside_body(const char* call) {
  throw misuse(
      std::string(call) +
      ": called for a task of the same flow, but not on the thread of its body, which may make inner "
      "tasks meanwhile: call it in the body itself, not in blocking(), in a parallel loop, in a task of "
      "a scope, or in what the end of a task calls");
}

void flow_core::refuse_in_chunk(const char* call) {
  throw misuse(std::string(call) +
               ": called in a chunk of a worksharing task of the same flow, whose other chunks may run "
               "meanwhile: let a task by flow::task make the inner tasks");
}

void flow_core::refuse_in_weak(const char* call) {
  throw misuse(
      std::string(call) +
      ": called in a task with a weak access, whose inner tasks may wait for tasks that this thread "
      "could not run: let the task end, which waits for the tasks made in it, and do the rest in a task "
      "that follows");
}

}  // namespace teff::detail
