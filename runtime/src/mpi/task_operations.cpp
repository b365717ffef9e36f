// The operations that tasks begin: sends, receives, and collective ones.
#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include "mpi/parts.hpp"
#include "mpi/task_requests.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <functional>
#include <string>

namespace teff {

namespace {

using detail::request_text;
using detail::task_messages;

// The type of the bytes [at, at + size) of rows that lie apart. These are the rest of a row, whole rows, and
// the beginning of a row. The type's places count from the first row.
template <class Byte>
MPI_Datatype type_of_part(const strided<Byte>& rows, std::size_t at, int size) {
  const auto skipped = at % rows.count;
  const auto rest = skipped == 0 ? 0 : std::min(static_cast<std::size_t>(size), rows.count - skipped);
  const auto first = at / rows.count + (skipped == 0 ? 0 : 1);  // whole row
  const auto whole = (static_cast<std::size_t>(size) - rest) / rows.count;
  const auto begun = (static_cast<std::size_t>(size) - rest) % rows.count;
  std::array types{MPI_BYTE, MPI_DATATYPE_NULL, MPI_BYTE};
  MPI_Type_create_hvector(static_cast<int>(whole), whole == 0 ? 0 : static_cast<int>(rows.count),
                          static_cast<MPI_Aint>(rows.stride), MPI_BYTE, &types[1]);
  const std::array lengths{static_cast<int>(rest), 1, static_cast<int>(begun)};
  const std::array places{static_cast<MPI_Aint>(at / rows.count * rows.stride + skipped),
                          static_cast<MPI_Aint>(first * rows.stride),
                          static_cast<MPI_Aint>((first + whole) * rows.stride)};
  MPI_Datatype part = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths.data(), places.data(), types.data(), &part);
  MPI_Type_commit(&part);
  MPI_Type_free(&types[1]);
  return part;
}

template <class Byte>
std::size_t size_of(const strided<Byte>& data) {
  return data.count * data.rows;
}

// Calls begin(first, count, type, request) for each part of a message until one returns an error. Returns the
// last code.
template <class Byte, class Begin>
int begin_parts(const strided<Byte>& data, MPI_Request* requests, Begin begin) {
  int code = MPI_SUCCESS;
  detail::each_part(size_of(data), [&](std::size_t at, int size) {
    if (code != MPI_SUCCESS) return;
    if (data.rows == 1 || data.stride == data.count) {
      code = begin(data.first + at, size, MPI_BYTE, requests++);
    } else {
      auto part = type_of_part(data, at, size);
      code = begin(data.first, 1, part, requests++);
      MPI_Type_free(&part);  // as soon as the request has completed
    }
  });
  return code;
}

// Begins a message to or from another rank.
template <class Byte, class Begin>
void exchange(const char* call, request_text text, const strided<Byte>& data, Begin begin) {
  auto& job = task_messages::current(call);
  const bool is_collective = text.kind == request_text::collective;
  // Nothing goes to and from the rank MPI_PROC_NULL. A broadcast comes from a rank.
  if ((text.rank != MPI_PROC_NULL || is_collective) && (text.rank < 0 || text.rank >= job.ranks()))
    detail::refuse_index(call, "rank", text.rank, job.ranks());
  if (!is_collective && (text.tag < 0 || text.tag > job.largest_tag()))
    throw misuse(std::string(call) + ": tag " + std::to_string(text.tag) + "; tags are from 0 to " +
                 std::to_string(job.largest_tag()));
  text.bytes = size_of(data);
  const auto begin_all = [&](MPI_Request* requests) {
    return begin_parts(data, requests, [&](auto* first, int count, MPI_Datatype type, MPI_Request* request) {
      return begin(first, count, type, job.all(), request);
    });
  };
  job.start(call, text, detail::parts_of(text.bytes), std::ref(begin_all));
}

MPI_Datatype type_of(detail::mpi_number number) {
  using kind = detail::mpi_number::kinds;
  if (number.kind == kind::floating)
    return number.bytes == sizeof(float)    ? MPI_FLOAT
           : number.bytes == sizeof(double) ? MPI_DOUBLE
                                            : MPI_LONG_DOUBLE;
  const bool is_signed = number.kind == kind::with_sign;
  switch (number.bytes) {
    case 1:
      return is_signed ? MPI_INT8_T : MPI_UINT8_T;
    case 2:
      return is_signed ? MPI_INT16_T : MPI_UINT16_T;
    case 4:
      return is_signed ? MPI_INT32_T : MPI_UINT32_T;
    default:
      return is_signed ? MPI_INT64_T : MPI_UINT64_T;
  }
}

MPI_Op operation_of(mpi::operation operation) {
  switch (operation) {
    case mpi::operation::product:
      return MPI_PROD;
    case mpi::operation::smallest:
      return MPI_MIN;
    case mpi::operation::largest:
      return MPI_MAX;
    default:
      return MPI_SUM;
  }
}

}  // namespace

void mpi::send_bytes(const strided<const std::byte>& data, int to, int tag) {
  exchange("teff::mpi::isend", {request_text::send, "send", "a send to rank", to, tag}, data,
           [&](const void* first, int count, MPI_Datatype type, MPI_Comm all, MPI_Request* request) {
             return MPI_Isend(first, count, type, to, tag, all, request);
           });
}

void mpi::receive_bytes(const strided<std::byte>& data, int from, int tag) {
  exchange("teff::mpi::irecv", {request_text::receive, "receive", "a receive from rank", from, tag}, data,
           [&](void* first, int count, MPI_Datatype type, MPI_Comm all, MPI_Request* request) {
             return MPI_Irecv(first, count, type, from, tag, all, request);
           });
}

void mpi::broadcast_bytes(const strided<std::byte>& data, int from) {
  exchange("teff::mpi::ibcast", {request_text::collective, "broadcast", "a broadcast from rank", from}, data,
           [&](void* first, int count, MPI_Datatype type, MPI_Comm all, MPI_Request* request) {
             return MPI_Ibcast(first, count, type, from, all, request);
           });
}

void mpi::reduce_numbers(void* data, std::size_t count, detail::mpi_number of, operation by) {
  constexpr auto call = "teff::mpi::iallreduce";
  auto& job = task_messages::current(call);
  if (count > INT_MAX)
    throw misuse(std::string(call) + ": " + std::to_string(count) +
                 " numbers; MPI reduces 2147483647 at most in "
                 "a call: reduce them in parts");
  job.start(call, {request_text::collective, "allreduce", "an allreduce"}, 1, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), type_of(of), operation_of(by),
                          job.all(), request);
  });
}

void mpi::ibarrier() {
  constexpr auto call = "teff::mpi::ibarrier";
  auto& job = task_messages::current(call);
  job.start(call, {request_text::collective, "barrier", "a barrier"}, 1,
            [&](MPI_Request* request) { return MPI_Ibarrier(job.all(), request); });
}

void mpi::attach_requests(const void* requests, std::size_t count, std::size_t bytes_of_one) {
  constexpr auto call = "teff::mpi::attach";
  if (bytes_of_one != sizeof(MPI_Request))
    throw misuse(std::string(call) + ": given something else than MPI_Request");
  task_messages::current(call).attach(call, static_cast<const MPI_Request*>(requests), count);
}

}  // namespace teff
