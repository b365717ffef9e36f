#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "teff/messages/contents.hpp"

namespace teff::messages {

/// Where large messages land: memory that no message is sent from.
class landings {
 public:
  explicit landings(std::size_t size) : size_(size) {}
  [[nodiscard]] std::span<std::byte> take() {
    if (free_.empty()) free_.push_back(all_.emplace_back(size_).buffer());
    const auto taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give(std::span<std::byte> back) { free_.push_back(back); }

 private:
  std::size_t size_;
  std::deque<contents> all_;
  std::vector<std::span<std::byte>> free_;
};

}  // namespace teff::messages
