#include "trace/trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <system_error>
#include <utility>

namespace teff::detail {

namespace {

// All heads have one length, so that each rank can overwrite the head.
constexpr const char* head_format = "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"job\": \"%016" PRIx64
                                    "\", \"lost_events\": %20" PRIu64 "}, \"traceEvents\": [\n";
constexpr char end_of_file[] = "\n]}\n";

}  // namespace

trace_file::trace_file(const std::string& path, std::uint64_t job) : file_(nullptr, &std::fclose), job_(job) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor >= 0) file_.reset(::fdopen(descriptor, "r+"));
  // fclose() releases the lock.
  if (file_ == nullptr || ::flock(descriptor, LOCK_EX) != 0)
    throw std::system_error(errno, std::generic_category());
  struct stat what{};
  std::array<char, 256> text{};
  std::uint64_t written_by = 0;
  if (::fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode) &&
      ::pread(descriptor, text.data(), text.size() - 1, 0) > 0 &&
      std::sscanf(text.data(), head_format, &written_by, &lost_) == 2 && written_by == job) {
    is_first_ = false;
    std::fseek(get(), -static_cast<long>(sizeof end_of_file - 1), SEEK_END);
    return;
  }
  lost_ = 0;
  if (::ftruncate(descriptor, 0) != 0 && S_ISREG(what.st_mode))
    throw std::system_error(errno, std::generic_category());
  write_head();
}

void trace_file::write_head() {
  std::fprintf(get(), head_format, job_, lost_);
}

void trace_file::separate() {
  if (!std::exchange(is_first_, false)) std::fputs(",\n", get());
}

bool trace_file::end(std::uint64_t lost_events) {
  std::fputs(end_of_file, get());
  lost_ += lost_events;
  if (std::fflush(get()) != 0) return false;
  if (std::fseek(get(), 0, SEEK_SET) == 0)
    write_head();  // fails in a pipe, to which one runtime alone writes
  return std::fflush(get()) == 0 && std::ferror(get()) == 0;
}

}  // namespace teff::detail
