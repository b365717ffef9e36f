#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace teff::graphs::kernels {

/// A temporary file without a name, in TMPDIR or /tmp: it is gone with this object, however the process ends.
/// Every member throws std::system_error.
class scratch_file {
 public:
  static constexpr std::size_t block_bytes = 4096;

  scratch_file();
  ~scratch_file();
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  /// Writes the block at `index`, reads it back and compares.
  void write_and_read(std::int64_t index);

  /// This thread's own, opened the first time.
  static scratch_file& of_this_thread();

 private:
  int descriptor_;
  std::int64_t writes_ = 0;
  std::array<std::int64_t, block_bytes / sizeof(std::int64_t)> block_{};
};

}  // namespace teff::graphs::kernels
