// Measures messages between two ranks: of one process, or, in teff_messages_mpi, of two processes. That
// program also measures the same with MPI alone.
//
//   teff_messages [COUNT]                     200000 messages, a tenth as many turns
//   mpirun -n 2 teff_messages_mpi [COUNT] [messages | mpi_blocks | idle]
//                                             messages: without rings; mpi_blocks: MPI carries large data;
//                                             idle: CPU seconds of each rank while both wait for 10 s
//
// It prints nanoseconds for
// - a message of 8 bytes that rank 0 sends to itself, and its handler;
// - the same to another rank, also if there are only 20,000 of them;
// - a message that answers one, of 8 bytes and of 512 KiB;
// - a large message that answers one, and one in a row;
// - a dependence in a chain of empty tasks that alternates between the ranks.
#include <teff/distributed_graph.hpp>
#include <teff/message.hpp>
#ifdef WITH_MPI
#include <teff/mpi.hpp>

#include <mpi.h>
#include <sys/resource.h>
#else
#include <teff/loopback.hpp>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::size_t large = std::size_t{512} << 10;
// Sizes of large messages, in KiB.
constexpr std::array<std::size_t, 4> large_sizes{64, 512, 8 << 10, 64 << 10};

// Large messages in a row land at so many places.
constexpr int places = 4;

std::string large_words(std::size_t kibibytes, const char* how) {
  return "a large message of " + std::to_string(kibibytes) + " KiB " + how;
}
// Each size takes about as long.
int large_turns(int count, std::size_t kibibytes) {
  return std::max(static_cast<int>(static_cast<std::size_t>(count) / (40 * kibibytes)), 1) * 2;
}

template <class F>
double nanoseconds_each(int count, F&& work) {
  const auto begin = clock_type::now();
  work();
  return std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / count;
}

// The median of several measurements.
template <class F>
double usual_nanoseconds_each(int count, F&& work) {
  std::array<double, 15> all{};
  for (auto& each : all) each = nanoseconds_each(count, work);
  std::ranges::sort(all);
  return all[all.size() / 2];
}

// Measures on rank 0, for the whole of run() or wait().
class measuring {
 public:
  measuring(teff::transport& through, int count)
      : count_(count), turns_(std::max(count / 10, 1)), rt_{{.workers = 1}}, comm_(rt_, through) {}

  void run() {
    in_a_row();
    answers();
    large_answers();
    large_in_a_row();
    chain();
  }

 private:
  void print(const std::string& what, double nanoseconds) const {
    if (comm_.rank() == 0) std::printf("%-52s %10.1f\n", what.c_str(), nanoseconds);
  }

  void in_a_row() {
    std::uint64_t sum = 0;  // one worker adds
    const auto small = comm_.on([&](std::uint64_t value) { sum += value; });
    const auto send = [&](int to, int count) {
      comm_.run([&] {
        if (comm_.rank() != 0) return;
        for (int i = 0; i < count; ++i) small.send(to, std::uint64_t{1});
      });
    };
    comm_.run([] {});
    print("8 B to itself, in a row", usual_nanoseconds_each(count_, [&] { send(0, count_); }));
    print("8 B to another rank, in a row", usual_nanoseconds_each(count_, [&] { send(1, count_); }));
    constexpr int few = 20'000;
    print("8 B to another rank, 20000 in a row", usual_nanoseconds_each(few, [&] { send(1, few); }));
  }

  void answers() {
    std::optional<teff::message<std::uint64_t>> back;
    back = comm_.on([&](std::uint64_t left) {
      if (left != 0) back->send(1 - comm_.rank(), left - 1);
    });
    std::optional<teff::message<std::uint64_t, std::span<const std::byte>>> block;
    block = comm_.on([&](std::uint64_t left, std::span<const std::byte> bytes) {
      if (left != 0) block->send(1 - comm_.rank(), left - 1, bytes);
    });
    comm_.run([] {});
    print("a message of 8 B that answers one", usual_nanoseconds_each(turns_, [&] {
            comm_.run([&] {
              if (comm_.rank() == 0) back->send(1, static_cast<std::uint64_t>(turns_));
            });
          }));
    const std::vector<std::byte> bytes(large);
    const int few = std::max(turns_ / 100, 1);
    print("a message of 512 KiB that answers one", usual_nanoseconds_each(few, [&] {
            comm_.run([&] {
              if (comm_.rank() == 0) block->send(1, static_cast<std::uint64_t>(few), bytes);
            });
          }));
  }

  // Data go from one buffer to the other and back.
  void large_answers() {
    std::vector<std::byte> buffer(large_sizes.back() << 10);
    std::optional<teff::large_message<std::byte, std::uint64_t>> block;
    block = comm_.on_large([&](std::uint64_t, std::size_t n) { return std::span(buffer).first(n); },
                           [&](std::uint64_t left, std::span<std::byte> x) {
                             if (left != 0) block->send(1 - comm_.rank(), left - 1, x);
                           });
    comm_.run([] {});
    for (const auto size : large_sizes) {
      const int turns = large_turns(count_, size);
      print(large_words(size, "that answers one"), usual_nanoseconds_each(turns, [&] {
              comm_.run([&] {
                if (comm_.rank() == 0)
                  block->send(1, static_cast<std::uint64_t>(turns - 1), std::span(buffer).first(size << 10));
              });
            }));
    }
  }

  // Data go one way. There are several places, each with one message under way.
  void large_in_a_row() {
    std::vector<std::byte> buffer((large_sizes.back() << 10) * places);
    const auto place = [&](std::size_t i, std::size_t n) { return std::span(buffer).subspan(i * n, n); };
    std::optional<teff::large_message<std::byte, std::size_t>> block;
    std::atomic<int> left{0};
    block = comm_.on_large([&](std::size_t i, std::size_t n) { return place(i, n); },
                           [](std::size_t, std::span<std::byte>) {});
    // The next message from a place follows when the place may be used again.
    std::function<void(std::size_t, std::size_t)> send;
    send = [&](std::size_t i, std::size_t n) {
      if (left.fetch_sub(1) > 0) block->send(1, i, place(i, n), [&send, i, n] { send(i, n); });
    };
    comm_.run([] {});
    for (const auto size : large_sizes) {
      const int count = std::max(large_turns(count_, size) / places, 1) * places;
      print(large_words(size, "in a row"), usual_nanoseconds_each(count, [&] {
              left = count;
              comm_.run([&] {
                for (std::size_t i = 0; i < places && comm_.rank() == 0; ++i) send(i, size << 10);
              });
            }));
    }
  }

  void chain() {
    teff::distributed_graph<int> chain(comm_);
    chain.rank([](int k) { return k % 2; }).indegree([](int) { return 1; }).body([&](int k) {
      if (k < turns_) chain.fulfill(k + 1);
    });
    print("a dependence between empty tasks of two ranks", usual_nanoseconds_each(turns_, [&] {
            if (comm_.rank() == 0) chain.fulfill(0);
            chain.wait();
          }));
  }

  const int count_;
  const int turns_;
  teff::runtime rt_;
  teff::communicator comm_;
};

#ifdef WITH_MPI

// Messages in windows. The sender waits until the receiver has received a window.
template <class Print>
void measure_mpi_in_a_row(int rank, int count, Print print) {
  std::vector<std::byte> bytes((large_sizes.back() << 10) * places);
  std::array<MPI_Request, places> requests{};
  for (const auto size : large_sizes) {
    const auto some = static_cast<int>(size << 10);
    const int windows = std::max(large_turns(count, size) / places, 1);
    print(large_words(size, "in a row"), usual_nanoseconds_each(windows * places, [&] {
            for (int i = 0; i < windows; ++i) {
              for (std::size_t each = 0; each < places; ++each) {
                auto* const at = bytes.data() + each * (size << 10);
                if (rank == 0) MPI_Isend(at, some, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[each]);
                if (rank != 0) MPI_Irecv(at, some, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[each]);
              }
              MPI_Waitall(places, requests.data(), MPI_STATUSES_IGNORE);
            }
            MPI_Barrier(MPI_COMM_WORLD);
          }));
  }
}

// Measures the same by MPI alone.
void measure_mpi(int rank, int count) {
  const int other = 1 - rank;
  std::vector<std::byte> bytes(large_sizes.back() << 10);
  const auto print = [&](const std::string& what, double nanoseconds) {
    if (rank == 0) std::printf("MPI: %-47s %10.1f\n", what.c_str(), nanoseconds);
  };
  const auto answers = [&](int turns, int size) {
    return usual_nanoseconds_each(2 * turns, [&] {
      for (int i = 0; i < turns; ++i) {
        if (rank == 0) MPI_Send(bytes.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(bytes.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0) MPI_Send(bytes.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
      }
    });
  };
  constexpr int window = 64;
  std::array<MPI_Request, window> requests{};
  const int windows = std::max(count / window, 1);
  print("8 B in a row, window 64", usual_nanoseconds_each(windows * window, [&] {
          for (int i = 0; i < windows; ++i) {
            for (int each = 0; each < window; ++each) {
              auto* const at = bytes.data() + each * 8;
              auto* const request = &requests[static_cast<std::size_t>(each)];
              if (rank == 0) MPI_Isend(at, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD, request);
              if (rank != 0) MPI_Irecv(at, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD, request);
            }
            MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
          }
        }));
  print("a message of 8 B that answers one", answers(count / 10, 8));
  for (const auto size : large_sizes)
    print(large_words(size, "that answers one"),
          answers(large_turns(count, size) / 2, static_cast<int>(size << 10)));
  measure_mpi_in_a_row(rank, count, print);
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Both ranks wait for a hold of rank 0.
void measure_idle(teff::transport& job) {
  teff::runtime rt{{.workers = 2}};
  teff::communicator comm(rt, job);
  comm.run([] {});
  std::thread sleeper;
  const auto before = processor_seconds();
  comm.run([&] {
    if (comm.rank() != 0) return;
    sleeper = std::thread([keeps = comm.hold()] { std::this_thread::sleep_for(std::chrono::seconds(10)); });
  });
  std::printf("rank %d: %.4f CPU seconds in 10\n", comm.rank(), processor_seconds() - before);
  if (sleeper.joinable()) sleeper.join();
}

#endif

}  // namespace

#ifdef WITH_MPI

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 200'000;
  const auto asks_for = [&](const char* what) { return argc > 2 && std::strcmp(argv[2], what) == 0; };
  teff::mpi job(argc, argv, {.rings = !asks_for("messages"), .reads_memory = !asks_for("mpi_blocks")});
  if (job.ranks() != 2) {
    std::fputs("teff_messages_mpi: for two ranks\n", stderr);
    return 1;
  }
  if (asks_for("idle")) {
    measure_idle(job);
    return 0;
  }
  measuring(job, count).run();
  measure_mpi(job.rank(), count);
}

#else

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 200'000;
  teff::loopback job(2);
  std::thread other([&] { measuring(job.rank(1), count).run(); });
  measuring(job.rank(0), count).run();
  other.join();
}

#endif
