#include "mpi/mpi_bytes.hpp"

#include <array>
#include <climits>
#include <utility>

namespace teff::detail {

namespace {

// Numbers that no int holds are halved. The bytes keep their order.
MPI_Datatype type_of(std::size_t rows, std::size_t length, std::size_t stride) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (rows <= INT_MAX && length <= INT_MAX) {
    MPI_Type_create_hvector(static_cast<int>(rows), static_cast<int>(length), static_cast<MPI_Aint>(stride),
                            MPI_BYTE, &made);
    return made;
  }
  const bool is_one = rows == 1;
  const auto half = (is_one ? length : rows) / 2;
  std::array halves{is_one ? type_of(1, half, half) : type_of(half, length, stride),
                    is_one ? type_of(1, length - half, half) : type_of(rows - half, length, stride)};
  const std::array lengths{1, 1};
  const std::array places{MPI_Aint{0}, static_cast<MPI_Aint>(is_one ? half : half * stride)};
  MPI_Type_create_struct(2, lengths.data(), places.data(), halves.data(), &made);
  for (auto& each : halves) MPI_Type_free(&each);
  return made;
}

}  // namespace

mpi_bytes::mpi_bytes(std::size_t rows, std::size_t length, std::size_t stride) {
  const auto size = rows * length;
  const bool lies_in_one = rows == 1 || stride == length;
  if (lies_in_one && size <= INT_MAX) {
    count_ = static_cast<int>(size);
    return;
  }
  type_ = lies_in_one ? type_of(1, size, size) : type_of(rows, length, stride);
  MPI_Type_commit(&type_);
}

mpi_bytes::~mpi_bytes() {
  if (type_ != MPI_BYTE) MPI_Type_free(&type_);
}

std::optional<channel::arrival> receive_any(MPI_Comm all) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, all, &found, &message, &status);
  if (found == 0) return std::nullopt;
  MPI_Count size = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &size);
  packet bytes;
  const mpi_bytes memory(static_cast<std::size_t>(size));
  MPI_Mrecv(bytes.append(static_cast<std::size_t>(size)), memory.count(), memory.type(), &message, &status);
  return channel::arrival{status.MPI_SOURCE, std::move(bytes)};
}

}  // namespace teff::detail
