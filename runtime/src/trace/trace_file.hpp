// The file of a trace, to which the ranks of a job add their events one after the other.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace teff::detail {

// Open and locked for this runtime. What lies there of the same job stays, and is complete before and
// after: a file of JSON at any time that nobody has it open.
class trace_file {
 public:
  // Throws std::system_error.
  trace_file(const std::string& path, std::uint64_t job);

  [[nodiscard]] std::FILE* get() const noexcept { return file_.get(); }
  // Before an event: what separates it from the one before.
  void separate();
  // After the last event. Returns whether all of it was written; if not, errno says why.
  [[nodiscard]] bool end(std::uint64_t lost_events);

 private:
  void write_head();

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t job_;
  std::uint64_t lost_ = 0;  // of the ranks before
  bool is_first_ = true;
};

}  // namespace teff::detail
