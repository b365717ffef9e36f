#include "kernels/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace teff::graphs::kernels {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), "io_bound: " + what);
}

std::string temporary_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/tmp";
}

int open_unnamed(const std::string& folder) {
#if defined(O_TMPFILE)
  const int unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;  // else the file system may not know how
#endif
  std::string path = folder + "/teff-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

/// All of `size` bytes through pwrite or pread, as far as signals interrupt them.
template <class Call, class Byte>
void transfer(const Call& call, int descriptor, Byte* data, std::size_t size, off_t offset,
              const char* what) {
  while (size > 0) {
    const ssize_t done = call(descriptor, data, size, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno, fmt::format("can't {} its temporary file", what));
    if (done == 0) fail(EIO, fmt::format("could {} only a part of a block of its temporary file", what));
    data += done;
    size -= static_cast<std::size_t>(done);
    offset += done;
  }
}

}  // namespace

scratch_file::scratch_file() {
  const std::string folder = temporary_folder();
  descriptor_ = open_unnamed(folder);
  if (descriptor_ < 0)
    fail(errno, fmt::format("can't make a temporary file in {} (set TMPDIR to another folder)", folder));
}

scratch_file::~scratch_file() {
  close(descriptor_);
}

void scratch_file::write_and_read(std::int64_t index) {
  const auto offset = static_cast<off_t>(index) * static_cast<off_t>(block_bytes);
  const std::int64_t written = ++writes_;
  block_.front() = block_.back() = written;
  auto* data = reinterpret_cast<char*>(block_.data());
  transfer(pwrite, descriptor_, data, block_bytes, offset, "write");
  block_.front() = block_.back() = 0;
  transfer(pread, descriptor_, data, block_bytes, offset, "read");
  if (block_.front() != written || block_.back() != written)
    fail(EIO, "read something else from its temporary file than it wrote");
}

scratch_file& scratch_file::of_this_thread() {
  static thread_local scratch_file file;
  return file;
}

}  // namespace teff::graphs::kernels
