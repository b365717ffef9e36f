#include <teff/collectives.hpp>

#include <iterator>

namespace teff::detail {

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
  const auto after = last_of_.upper_bound(number);
  const auto before = after == last_of_.begin() ? last_of_.end() : std::prev(after);
  if (before != last_of_.end() && before->second >= number) return false;
  auto last = number;
  const bool joins = before != last_of_.end() && before->second + 1 == number;
  if (after != last_of_.end() && after->first == number + 1) {
    last = after->second;
    last_of_.erase(after);
  }
  if (joins) {
    before->second = last;
  } else {
    last_of_.emplace(number, last);
  }
  return true;
}

}  // namespace teff::detail
