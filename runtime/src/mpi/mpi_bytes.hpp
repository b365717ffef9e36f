// Memory of a message as MPI takes it. MPI counts by int, so memory of more bytes is one element of a type.
#pragma once

#include <mpi.h>

#include <teff/transport.hpp>

#include <cstddef>
#include <optional>

namespace teff::detail {

// `rows` rows of `length` bytes, the beginnings of which lie `stride` bytes apart. A request that was begun
// with the type outlives this object.
class mpi_bytes {
 public:
  explicit mpi_bytes(std::size_t size) : mpi_bytes(1, size, size) {}
  mpi_bytes(std::size_t rows, std::size_t length, std::size_t stride);
  ~mpi_bytes();
  mpi_bytes(const mpi_bytes&) = delete;
  mpi_bytes& operator=(const mpi_bytes&) = delete;

  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

 private:
  int count_ = 1;
  MPI_Datatype type_ = MPI_BYTE;
};

// Receives the next message on this communicator, of any rank and tag; nothing if none has come.
[[nodiscard]] std::optional<channel::arrival> receive_any(MPI_Comm all);

}  // namespace teff::detail
