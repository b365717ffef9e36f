#include <teff/detail/graph/key_text.hpp>
#include <teff/error.hpp>

#include <algorithm>

namespace teff::detail {

std::exception_ptr leftovers::error() const {
  if (count == 0) return nullptr;
  std::string text =
      "teff::task_graph: " + std::to_string(count) + (count == 1 ? " key was" : " keys were") +
      " fulfilled, but less often than the indegree says, or once more after the task had run: ";
  for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (count > most_names) text += ", ...";
  return std::make_exception_ptr(never_satisfied(text, count));
}

}  // namespace teff::detail
