#include <teff/collectives.hpp>

#include <iterator>

namespace teff {

namespace detail {

std::string binomial_tree::words_of(givers some) const {
  std::string words;
  const auto add = [&](int number, bool alone) {
    words += (words.empty() ? "rank " : ", rank ") + std::to_string(rank_of(number));
    if (!alone) words += " or ranks below it";
  };
  if ((some & itself) != 0) add(number_, true);
  for (givers bit = 1; bit != itself; bit <<= 1) {
    const int number = number_ + static_cast<int>(bit);
    if ((some & bit) != 0) add(number, bit == 1 || number + 1 == ranks_);
  }
  return words;
}

bool numbers_seen::add(std::uint64_t number) {
  auto after = last_of_.upper_bound(number);
  if (after != last_of_.begin()) {
    const auto before = std::prev(after);
    if (before->second >= number) return false;
    if (before->second + 1 == number) {
      before->second = number;
      if (after != last_of_.end() && after->first == number + 1) {
        before->second = after->second;
        last_of_.erase(after);
      }
      return true;
    }
  }
  auto last = number;
  if (after != last_of_.end() && after->first == number + 1) {
    last = after->second;
    after = last_of_.erase(after);
  }
  last_of_.emplace_hint(after, number, last);
  return true;
}

void numbers_seen::clear() noexcept {
  last_of_.clear();
}

}  // namespace detail

void barrier::arrive(std::uint64_t round) const {
  all_->give(round, 0);
}

}  // namespace teff
