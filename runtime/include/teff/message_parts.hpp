// What a type of your own needs to be an argument of a message, if it needs anything.
#pragma once

namespace teff {

// These can be arguments of messages, and parts of each other, as they are:
//
// - numbers, enumerations, bool
// - std::string, std::vector, std::deque, std::list, maps and sets
// - std::array, std::pair, std::tuple, std::optional, std::variant
// - structures of up to six fields of such types, without base classes, arrays in them, and constructors
// - all else that is trivially copyable: by its bytes. It holds no addresses, which mean nothing elsewhere
// - as views of the sender's data, which a handler may read until it returns: std::span<const T> of what
//   travels by its bytes, and std::string_view
//
// Any other type says of which such parts it is made, and how:
//
//   template <>
//   struct teff::message_parts<matrix> {
//     static auto of(const matrix& m) { return std::tuple(m.rows(), std::span<const double>(m.values())); }
//     static matrix made_of(int rows, std::span<const double> values) { return matrix(rows, values); }
//   };
//
// of() returns a tuple; made_of() takes its elements. What made_of() throws, the handler is taken to throw.
template <class T>
struct message_parts;

}  // namespace teff
