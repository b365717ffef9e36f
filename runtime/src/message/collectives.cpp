#include <teff/collectives.hpp>

#include <iterator>

namespace teff::detail {

std::string rank_tree::words_of(givers some) const {
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
  auto stretch = after == last_of_.begin() ? last_of_.end() : std::prev(after);
  if (stretch != last_of_.end() && stretch->second >= number) return false;
  if (stretch == last_of_.end() || stretch->second + 1 != number)
    stretch = last_of_.emplace_hint(after, number, number);
  stretch->second = number;
  if (after != last_of_.end() && after->first == number + 1) {
    stretch->second = after->second;
    last_of_.erase(after);
  }
  return true;
}

}  // namespace teff::detail
