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

void channel::lacks(const char* function) {
  throw misuse(std::string("teff::channel: this transport has no ") + function + "() for large messages");
}

}  // namespace teff
