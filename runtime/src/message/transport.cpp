#include <teff/error.hpp>
#include <teff/transport.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace teff {

void detail::packet::grow(std::size_t needed) {
  constexpr std::size_t least = 256;
  const auto capacity = std::max({needed, 2 * capacity_, least});
  // The operators for an alignment are slower in some C libraries.
  static_assert(argument_alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  auto* const larger = static_cast<std::byte*>(::operator new(capacity));
  if (size_ != 0) std::memcpy(larger, memory_, size_);
  ::operator delete(std::exchange(memory_, larger));
  capacity_ = capacity;
}

namespace {

// A function that the channel of a program does not define, and whose way of large messages it offers.
[[noreturn]] void lacks(const char* function) {
  throw misuse(std::string("teff::channel: this transport has no ") + function + "() for large messages");
}

}  // namespace

void channel::withdraw(int /*from*/, std::uint32_t /*number*/, std::span<std::byte> /*to*/) {
  lacks("withdraw");
}

void channel::take_back(int /*to*/, std::uint32_t /*number*/) {
  lacks("take_back");
}

void channel::read(int /*from*/, std::uint64_t /*address*/, std::span<std::byte> /*to*/) {
  lacks("read");
}

void channel::expect(int /*from*/, int /*number*/, std::span<std::byte> /*to*/, packet /*then*/) {
  lacks("expect");
}

void channel::supply(int /*to*/, int /*number*/, std::span<const std::byte> /*bytes*/, packet /*then*/) {
  lacks("supply");
}

std::string transport::awaited() const {
  return "other ranks";
}

unsigned transport::count_next(const std::string& kind) {
  const std::lock_guard lock(counting_);
  return ++made_[kind];
}

}  // namespace teff
