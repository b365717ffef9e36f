// What a type needs to be the key of a task_graph: a hash.
#pragma once

#include <teff/detail/graph/key_hashing.hpp>

#include <cstddef>
#include <functional>

namespace teff {

// The hash of a key, equal for keys that == finds equal. The first of these that fits:
//
// - integers, enumerations, pointers, and arrays, pairs and tuples of them without padding: by their bytes
// - what std::hash is specialised for: by that
// - arrays, pairs and tuples: by the key_hash of their parts
// - ranges whose == compares the elements in order, as std::vector's: by the key_hash of the elements
// - structures of up to six fields, without arrays and base classes: by the key_hash of their fields. Other
//   structures without padding: by their bytes. Their == must compare all fields, as a defaulted one does;
//   else specialise std::hash
//
// For any other key, specialise std::hash or key_hash, or pass another class of this form as task_graph's
// second argument.
template <class Key>
struct key_hash {
  std::size_t operator()(const Key& key) const noexcept {
    if constexpr (detail::plain_bytes<Key>) {
      return detail::hash_of_bytes(key);
    } else if constexpr (detail::with_std_hash<Key>) {
      return detail::mixed(std::hash<Key>{}(key));
    } else if constexpr (detail::tuple_like<Key>) {
      return detail::hash_of_parts(key);
    } else if constexpr (detail::plain_structure<Key>) {
      return detail::hash_of_structure(key);
    } else if constexpr (detail::sequence<Key>) {
      return detail::hash_of_elements(key);
    } else if constexpr (detail::with_fields<Key>) {
      return detail::hash_of_parts(detail::fields_of(key));
    } else {
      static_assert(
          detail::is_hashable<Key>,
          "the key of a teff::task_graph has no hash: specialise std::hash or teff::key_hash for its "
          "type, or pass a hash as second argument");
    }
  }
};

}  // namespace teff
