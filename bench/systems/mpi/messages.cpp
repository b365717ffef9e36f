// Messages by MPI's calls, as in handwritten code: blocking one by one, nonblocking in a window.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "teff/messages/drive.hpp"

namespace {

using namespace teff::messages;

constexpr int tag = 1;
const MPI_Comm both = MPI_COMM_WORLD;

void send(std::span<const std::byte> bytes, int to) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, both);
}
void receive(std::span<std::byte> bytes, int from) {
  MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, both, MPI_STATUS_IGNORE);
}
void send(std::uint64_t number, int to) {
  MPI_Send(&number, 1, MPI_UINT64_T, to, tag, both);
}
std::uint64_t receive(int from) {
  std::uint64_t number = 0;
  MPI_Recv(&number, 1, MPI_UINT64_T, from, tag, both, MPI_STATUS_IGNORE);
  return number;
}

class mpi_peer final : public peer {
 public:
  void one_way(trial& at) override {
    contents message(at.asked().bytes);
    if (at.rank() == 0) {
      for (std::int64_t turn = 0; at.begins(turn); ++turn) {
        send(message.numbered(static_cast<std::uint64_t>(turn)), 1);
        receive(message.buffer(), 1);
        at.arrived(message.buffer());
      }
      return;
    }
    at.start();
    for (std::int64_t turn = 0; turn < at.asked().all_turns(); ++turn) {
      receive(message.buffer(), 0);
      at.arrived(message.buffer());
      send(message.buffer(), 0);
    }
    at.stop();
  }

  void burst(trial& at) override {
    const auto window = static_cast<std::size_t>(at.asked().window);
    std::vector<std::uint64_t> numbers(window);
    std::vector<MPI_Request> requests(window);
    const auto all = [&] { MPI_Waitall(static_cast<int>(window), requests.data(), MPI_STATUSES_IGNORE); };
    if (at.rank() == 0) {
      std::uint64_t next = 0;
      for (std::int64_t turn = 0; at.begins(turn); ++turn) {
        for (std::size_t i = 0; i < window; ++i) {
          numbers[i] = next++;
          MPI_Isend(&numbers[i], 1, MPI_UINT64_T, 1, tag, both, &requests[i]);
        }
        all();
        at.arrived(receive(1));
      }
      return;
    }
    at.start();
    for (std::int64_t turn = 0; turn < at.asked().all_turns(); ++turn) {
      for (std::size_t i = 0; i < window; ++i)
        MPI_Irecv(&numbers[i], 1, MPI_UINT64_T, 0, tag, both, &requests[i]);
      all();
      for (const std::uint64_t number : numbers) at.arrived(number);
      send(static_cast<std::uint64_t>(turn), 0);
    }
    at.stop();
  }

  /// The task is named by the message that makes it ready.
  void chain(trial& at) override {
    if (at.rank() == 0) {
      for (std::int64_t turn = 0; at.begins(turn); ++turn) {
        send(static_cast<std::uint64_t>(2 * turn + 1), 1);
        at.arrived(receive(MPI_ANY_SOURCE));
      }
      return;
    }
    at.start();
    for (std::int64_t turn = 0; turn < at.asked().all_turns(); ++turn) {
      const std::uint64_t task = receive(MPI_ANY_SOURCE);
      at.arrived(task);
      send(task + 1, 0);
    }
    at.stop();
  }

  /// Rank 0 looks for messages, as MPI_Recv does inside, until its time is over.
  void idle(trial& at) override {
    at.start();
    if (at.rank() == 0) {
      const auto end =
          std::chrono::steady_clock::now() + std::chrono::duration<double>(at.asked().idle_seconds);
      int found = 0;
      while (std::chrono::steady_clock::now() < end)
        MPI_Iprobe(MPI_ANY_SOURCE, tag, both, &found, MPI_STATUS_IGNORE);
      send(std::uint64_t{0}, 1);
    } else {
      at.arrived(receive(0));
    }
    at.stop();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, MPI_THREAD_SINGLE, {.system = "mpi", .variant = "messages"},
               [] { return std::make_unique<mpi_peer>(); });
}
