#include "teff/messages/contents.hpp"

#include <cstring>

namespace teff::messages {
namespace {

/// The finaliser of splitmix64: each bit of the value changes half of the result's.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

void tally::add(std::uint64_t value) noexcept {
  ++count;
  sum += mixed(value);
}

contents::contents(std::size_t bytes) : words_(bytes / sizeof(std::uint64_t)) {
  for (std::size_t place = 0; place < words_.size(); ++place) words_[place] = mixed(place);
}

std::uint64_t number_of(std::span<const std::byte> message) {
  std::uint64_t number = 0;
  std::memcpy(&number, message.data(), sizeof(number));
  return number;
}

std::uint64_t fingerprint(std::span<const std::byte> message) {
  std::uint64_t found = message.size();
  for (; !message.empty(); message = message.subspan(sizeof(std::uint64_t)))
    found = mixed(found ^ number_of(message));
  return found;
}

}  // namespace teff::messages
