#include <teff/error.hpp>
#include <teff/transport.hpp>

#include <algorithm>
#include <cstring>

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

std::optional<detail::doorbell> channel::listen(std::uint32_t /*sleeper*/) noexcept {
  return std::nullopt;
}

void channel::rise(std::uint32_t /*sleeper*/) noexcept {}

bool channel::is_near(int /*to*/) const noexcept {
  return false;
}

std::optional<std::uint32_t> channel::deposit(int /*to*/, std::span<const std::byte> /*bytes*/) {
  return std::nullopt;
}

void channel::withdraw(int /*from*/, std::uint32_t /*number*/, std::span<std::byte> /*to*/) {
  throw misuse("teff::channel: this transport keeps no data of other ranks");
}

void channel::take_back(int /*to*/, std::uint32_t /*number*/) {
  throw misuse("teff::channel: this transport keeps no data for other ranks");
}

bool channel::reads(int /*from*/) const noexcept {
  return false;
}

void channel::read(int /*from*/, std::uint64_t /*address*/, std::span<std::byte> /*to*/) {
  throw misuse("teff::channel: this transport reads no memory of other ranks");
}

void channel::expect(int /*from*/, int /*number*/, std::span<std::byte> /*to*/, packet /*then*/) {
  throw misuse("teff::channel: this transport carries no large messages");
}

void channel::supply(int /*to*/, int /*number*/, std::span<const std::byte> /*bytes*/, packet /*then*/) {
  throw misuse("teff::channel: this transport carries no large messages");
}

std::string transport::awaited() const {
  return "other ranks";
}

unsigned transport::count_next(const std::string& kind) {
  const std::lock_guard lock(counting_);
  return ++made_[kind];
}

bool transport::is_crowded(unsigned /*workers*/) const noexcept {
  return false;
}

std::shared_ptr<std::byte> transport::share_memory(std::size_t /*size*/, memory_name& /*name*/) {
  return nullptr;
}

std::shared_ptr<std::byte> transport::map_memory(int /*of*/, const memory_name& /*name*/) {
  return nullptr;
}

}  // namespace teff
