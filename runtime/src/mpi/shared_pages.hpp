// Memory that processes of one machine share. One process makes it; the others find it by that process and
// the number of its file there.
#pragma once

#include <teff/transport.hpp>

#include <cstddef>
#include <memory>

namespace teff::detail {

// Makes memory, all zero. Null: the system gives none.
[[nodiscard]] std::shared_ptr<std::byte> make_shared_pages(std::size_t size, memory_name& name);
// Maps memory of another process. Null: the system does not let this process have it, or it is gone.
[[nodiscard]] std::shared_ptr<std::byte> map_shared_pages(const memory_name& name);

}  // namespace teff::detail
