// The file of a trace, to which the ranks of a job add their events one after the other.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace teff::detail {

// The file, open and locked for this runtime. Events of the same job stay. While no runtime has it open, the
// file is complete JSON.
class trace_file {
 public:
  // Throws std::system_error.
  trace_file(const std::string& path, std::uint64_t job);

  [[nodiscard]] std::FILE* get() const noexcept { return file_.get(); }
  // Writes the separator before an event.
  void separate();
  // Ends the file after the last event. Returns whether all of it was written; if not, errno says why.
  [[nodiscard]] bool end(std::uint64_t lost_events);

 private:
  void write_head();

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t job_;
  std::uint64_t lost_ = 0;  // events that the ranks before have lost
  bool is_first_ = true;
};

}  // namespace teff::detail
