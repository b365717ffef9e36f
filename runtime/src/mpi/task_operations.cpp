// The operations that tasks begin: sends, receives, and collective ones.
#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include "mpi/mpi_bytes.hpp"
#include "mpi/task_requests.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <string>

namespace teff {

namespace {

using detail::request_text;
using detail::task_messages;

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
  text.bytes = data.count * data.rows;
  const detail::mpi_bytes memory(data.rows, data.count, data.stride);
  job.start(call, text, 1, [&](MPI_Request* request) {
    return begin(data.first, memory.count(), memory.type(), job.all(), request);
  });
}

MPI_Datatype type_of(detail::mpi_number number) {
  using kind = detail::mpi_number::kinds;
  if (number.kind == kind::floating)
    return number.bytes == sizeof(float)    ? MPI_FLOAT
           : number.bytes == sizeof(double) ? MPI_DOUBLE
                                            : MPI_LONG_DOUBLE;
  const std::array with_sign{MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T};
  const std::array without_sign{MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
  return (number.kind == kind::with_sign ? with_sign : without_sign)[std::bit_width(number.bytes) - 1];
}

MPI_Op operation_of(mpi::operation operation) {
  // In the order of the enumeration.
  return std::array{MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX}[static_cast<std::size_t>(operation)];
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
  auto& job = task_messages::current(call);
  if (!job.program_may_call())
    throw misuse(std::string(call) +
                 ": MPI is not initialised at MPI_THREAD_MULTIPLE, so no task may call MPI while other "
                 "workers do: call MPI_Init_thread for that level before teff::mpi is made, or let the task "
                 "call teff::mpi::isend, irecv, ibcast, iallreduce, ibarrier");
  job.start(call, {request_text::of_program, "request", "requests of the program"}, count,
            [&](MPI_Request* to) {
              std::copy_n(static_cast<const MPI_Request*>(requests), count, to);
              return MPI_SUCCESS;
            });
}

}  // namespace teff
