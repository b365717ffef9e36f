#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/elements.hpp"

namespace teff::programs {

/// Scores of the best alignments of all pairs of some sequences, which are of very different lengths. Each
/// pair is a task.
class alignment {
 public:
  static constexpr description about{.name = "alignment",
                                     .title = "alignments of all pairs of sequences",
                                     .needs = way::fork_join,
                                     .unit = "sequences",
                                     .sizes = {6, 60, 200},
                                     .least = 2,
                                     .most = 10'000};

  explicit alignment(std::int64_t sequences)
      : letters_(sequences * most_letters), lengths_(sequences), scores_(sequences * sequences) {
    for (std::int64_t i = 0; i < letters_.size(); ++i)
      letters_[i] = static_cast<std::uint8_t>(mixed(static_cast<std::uint64_t>(i)) % 4);
    for (std::int64_t i = 0; i < sequences; ++i)
      lengths_[i] =
          16 + static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(i)) % (most_letters - 15));
  }

  template <class System>
  void run(System& system) {
    system.run_tasks([this] {
      System::scope([this](auto& tasks) {
        for (std::int64_t i = 0; i < lengths_.size(); ++i)
          for (std::int64_t j = 0; j < i; ++j)
            tasks.spawn([this, i, j] { scores_[i * lengths_.size() + j] = score(i, j); });
      });
    });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(scores_); }

 private:
  [[nodiscard]] std::int32_t score(std::int64_t i, std::int64_t j) const {
    return alignment_score(letters_.data() + i * most_letters, lengths_[i],
                           letters_.data() + j * most_letters, lengths_[j]);
  }

  buffer<std::uint8_t> letters_;
  buffer<std::int64_t> lengths_;
  buffer<std::int32_t> scores_;
};

}  // namespace teff::programs
