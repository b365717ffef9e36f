// mpi: a job whose ranks are processes that MPI has started. Target teff::mpi.
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/message/argument_kinds.hpp>
#include <teff/detail/platform/durations.hpp>
#include <teff/detail/platform/ranges.hpp>
#include <teff/task_coroutine.hpp>
#include <teff/transport.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {

class mpi_job;

// A number that MPI can reduce.
struct mpi_number {
  enum class kinds : std::uint8_t { with_sign, without_sign, floating };
  kinds kind;
  std::size_t bytes;
};
template <class T>
constexpr mpi_number mpi_number_of() {
  static_assert(std::is_arithmetic_v<T> && !std::same_as<T, bool>, "MPI reduces numbers");
  return {std::is_floating_point_v<T> ? mpi_number::kinds::floating
          : std::is_signed_v<T>       ? mpi_number::kinds::with_sign
                                      : mpi_number::kinds::without_sign,
          sizeof(T)};
}

// The memory of a message. It travels by its bytes. `Byte` is const if MPI only reads there.
template <class Byte, class What>
[[nodiscard]] strided<Byte> bytes_of_message(What&& what) {
  const auto memory = memory_of(std::forward<What>(what));
  using object = std::remove_pointer_t<decltype(memory.first)>;
  using plain = std::remove_const_t<object>;
  static_assert(std::is_trivially_copyable_v<plain>,
                "MPI sends the bytes of an object, so its type must be trivially copyable");
  static_assert(!is_address<plain> && !is_strided<plain> && !std::ranges::view<plain> &&
                    !std::input_or_output_iterator<plain>,
                "an address means nothing on another rank: name the elements that it leads to");
  static_assert(std::is_const_v<Byte> || !std::is_const_v<object>,
                "MPI writes here, so name memory that is not const");
  return bytes_of<Byte>(memory);
}

// MPI reduces no rows that lie apart. It broadcasts them only if they lie apart on all ranks.
template <class What>
consteval void expect_one_row() {
  static_assert(!is_strided<std::remove_cvref_t<What>>,
                "a collective operation takes elements that lie in one row: copy the rows to a range");
}

// MPI_Request is a pointer or an int. This header does not include mpi.h, which the program does if it calls
// MPI itself.
template <class T>
concept mpi_request =
    std::same_as<T, int> || (std::is_pointer_v<T> && !std::is_pointer_v<std::remove_pointer_t<T>>);

}  // namespace detail

// How the ranks of a job communicate.
struct mpi_options {
  // Ranks of one node use shared memory. If this is false on any rank, or /dev/shm of any node has too little
  // room, all ranks use MPI's messages. A line on stderr names that node.
  bool rings = true;
  // Within a node, the receiver of a large message may read the data from the sender's memory, where the
  // system permits that. If this is false on any rank, MPI carries such data.
  bool reads_memory = true;
  // The job ends after so long without an answer of another node's system; 0: never. A system answers also
  // for ranks that are busy or stopped. In whole seconds, 4 at least; otherwise mpi throws invalid_option.
  std::chrono::seconds silence{4};
};

// The transport of one rank of an MPI job, which is this process.
//
//   int main(int argc, char** argv) {
//     teff::mpi job(argc, argv);  // started alone: one rank
//     teff::runtime rt;
//     teff::communicator comm{rt, job};
//     ...
//   }
//
// - Initialises MPI at the level MPI_THREAD_SERIALIZED, and finalises it at its end, unless the program has
//   initialised it at that level or a higher one. While this object lives, the program may call MPI itself
//   only where no worker uses a communicator, unless the level is MPI_THREAD_MULTIPLE.
// - Ranks of one node communicate through rings in shared memory. A rank with nothing to do sleeps, and a
//   sender wakes it. Before Linux 5.16 its workers look for packets instead, as for other nodes.
// - Ranks of other nodes are reached by MPI's messages. MPI does not tell when one has come, so workers look
//   between tasks. When all workers sleep, one of them wakes to look; the longer nothing has come, the longer
//   it sleeps.
// - MPI carries the data of large messages to other nodes, from the sender's memory to the receiver's.
// - If another rank is killed, or another node can't be reached, this process says so and ends. Nodes watch
//   each other by TCP connections (IPv4). Where these can't be made, a rank watches only the ranks of this
//   node.
// - open(), a channel's destructor and this object's destructor wait until all ranks have called them. If an
//   exception leaves the object's block, its destructor waits two seconds at most, and may leave MPI
//   initialised. Then the program can print the exception, and has to end.
class mpi final : public transport {
 public:
  // Throws misuse if MPI is initialised at a lower level, or was finalised.
  mpi(int& argc, char**& argv, const mpi_options& how = {});
  ~mpi() override;

  [[nodiscard]] int rank() const noexcept override;
  [[nodiscard]] int ranks() const noexcept override;
  [[nodiscard]] std::unique_ptr<channel> open() override;
  // Names the ranks of this node that have not opened the channel yet.
  [[nodiscard]] std::string awaited() const override;
  [[nodiscard]] bool is_crowded(unsigned workers) const noexcept override;
  [[nodiscard]] std::shared_ptr<std::byte> share_memory(std::size_t size, memory_name& name) override;
  [[nodiscard]] std::shared_ptr<std::byte> map_memory(int of, const memory_name& name) override;

  // ---- In the body of a task of a flow or task graph ----
  //
  //   f.task(teff::out(halo), [&] { teff::mpi::irecv(halo, left, 1); });
  //   f.task(teff::in(edge), [&] { teff::mpi::isend(edge, right, 1); });
  //   f.task(teff::in(halo), teff::inout(block), [&] { relax(block, halo); });
  //
  // Each of these functions begins an operation of MPI and returns. The task ends when the operation has
  // completed, and not before: until then, the task's worker runs other tasks. So the memory must be the
  // task's own until its end: the task names it as an access.
  //
  // - Workers test the requests of all tasks as teff::attach() says, by MPI_Testsome, some at a time. No
  //   thread is needed for that, and the level MPI_THREAD_SERIALIZED is enough.
  // - Their messages do not meet those of a communicator, nor those that the program sends by MPI itself.
  // - All of them throw misuse if the thread runs no body of a task, if no object of class mpi lives, or if
  //   an argument is out of range. They throw communication_failed if MPI refuses the operation, and what
  //   teff::attach() throws. If the operation fails later, the graph or flow fails by communication_failed,
  //   or by rank_failed if the other rank has left the job (docs: how-to/mpi-in-tasks.md).
  // - If several objects of class mpi live, tasks use the oldest.
  // - The object outlives the tasks.

  // Sends what in() of the same argument names: an object, the elements of a contiguous range, or a
  // section(). It goes to the irecv() of that rank with this tag. Messages of one tag arrive in the order of
  // the calls. So the accesses of the tasks that call it with one tag must order these tasks. The same holds
  // for the tasks that receive with the tag. Give other tasks other tags.
  template <class What>
  static void isend(What&& data, int to, int tag = 0) {
    send_bytes(detail::bytes_of_message<const std::byte>(std::forward<What>(data)), to, tag);
  }
  // Receives into such memory. The message may be shorter. If it is longer, the operation fails. It may have
  // come from memory of another shape, as a column that is received into a vector.
  template <class What>
  static void irecv(What&& data, int from, int tag = 0) {
    receive_bytes(detail::bytes_of_message<std::byte>(std::forward<What>(data)), from, tag);
  }

  // Collective operations: all ranks call the same ones in the same order. So the tasks that call them must
  // have an order, by inout() of the same object.

  // Copies an object or the elements of a contiguous range from that rank to the others.
  template <class What>
  static void ibcast(What&& data, int from) {
    detail::expect_one_row<What>();
    broadcast_bytes(detail::bytes_of_message<std::byte>(std::forward<What>(data)), from);
  }
  enum class operation : std::uint8_t { sum, product, smallest, largest };
  // Replaces a number, or each number of a range, by the result over all ranks.
  template <class What>
  static void iallreduce(What&& data, operation by = operation::sum) {
    detail::expect_one_row<What>();
    const auto numbers = detail::memory_of(std::forward<What>(data));
    using number = std::remove_pointer_t<decltype(numbers.first)>;
    reduce_numbers(numbers.first, numbers.count, detail::mpi_number_of<number>(), by);
  }
  // The task ends when all ranks have called it.
  static void ibarrier();

  // The same for a body that is a coroutine (teff::task_coroutine). It awaits the result: `co_await` returns
  // when the operation has completed, and all others that the task has begun.
  //
  //   co_await teff::mpi::recv(halo, left, 1);
  template <class What>
  [[nodiscard]] static detail::awaited_events send(What&& data, int to, int tag = 0) {
    isend(std::forward<What>(data), to, tag);
    return {};
  }
  template <class What>
  [[nodiscard]] static detail::awaited_events recv(What&& data, int from, int tag = 0) {
    irecv(std::forward<What>(data), from, tag);
    return {};
  }
  template <class What>
  [[nodiscard]] static detail::awaited_events bcast(What&& data, int from) {
    ibcast(std::forward<What>(data), from);
    return {};
  }
  template <class What>
  [[nodiscard]] static detail::awaited_events allreduce(What&& data, operation by = operation::sum) {
    iallreduce(std::forward<What>(data), by);
    return {};
  }
  [[nodiscard]] static detail::awaited_events barrier() {
    ibarrier();
    return {};
  }

  // The task ends when these requests have completed, which the program has begun by calls of MPI. Requests
  // that are MPI_REQUEST_NULL or inactive, and no requests at all, have completed. The library takes the
  // requests: the program must not use them afterwards. Throws misuse unless MPI was initialised at
  // MPI_THREAD_MULTIPLE: at a lower level, tasks may not call MPI.
  //
  //   f.task(teff::out(halo), [&] {
  //     MPI_Request request;
  //     MPI_Irecv(halo.data(), n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request);
  //     teff::mpi::attach(request);
  //   });
  template <detail::mpi_request Request, std::same_as<Request>... More>
  static void attach(const Request& request, const More&... more) {
    attach(std::array{request, more...});
  }
  template <std::ranges::contiguous_range Requests>
    requires detail::mpi_request<std::ranges::range_value_t<Requests>>
  static void attach(const Requests& requests) {
    const std::span all(requests);
    attach_requests(all.data(), all.size(), sizeof(std::ranges::range_value_t<Requests>));
  }

 private:
  static void send_bytes(const strided<const std::byte>& data, int to, int tag);
  static void receive_bytes(const strided<std::byte>& data, int from, int tag);
  static void broadcast_bytes(const strided<std::byte>& data, int from);
  static void reduce_numbers(void* data, std::size_t count, detail::mpi_number of, operation by);
  static void attach_requests(const void* requests, std::size_t count, std::size_t bytes_of_one);

  std::shared_ptr<detail::mpi_job> job_;
};

}  // namespace teff
