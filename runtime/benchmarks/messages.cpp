// What messages cost between two ranks: of one process, or, in teff_messages_mpi, of two processes, beside
// what MPI's own cost there.
//
//   teff_messages [COUNT]                     200000 messages, a tenth as many turns
//   mpirun -n 2 teff_messages_mpi [COUNT] [messages | idle]
//                                             messages: not by rings; idle: the CPU seconds of ten that both
//                                             wait
//
// It prints nanoseconds: a message of 8 bytes that rank 0 sends to itself, and its handler; the same to
// another rank; the same where 20,000 of them are all that there is; a message that answers one, of 8 bytes
// and of 512 KiB; and a dependence of a chain of empty tasks that alternates between the ranks.
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
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::size_t large = std::size_t{512} << 10;

template <class F>
double nanoseconds_each(int count, F&& work) {
  const auto begin = clock_type::now();
  work();
  return std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / count;
}

// The median of some.
template <class F>
double usual_nanoseconds_each(int count, F&& work) {
  std::array<double, 15> all{};
  for (auto& each : all) each = nanoseconds_each(count, work);
  std::ranges::sort(all);
  return all[all.size() / 2];
}

// The times of rank 0, for the whole of run() or wait().
class measuring {
 public:
  measuring(teff::transport& through, int count)
      : count_(count), turns_(std::max(count / 10, 1)), rt_{{.workers = 1}}, comm_(rt_, through) {}

  void run() {
    in_a_row();
    answers();
    chain();
  }

 private:
  void print(const char* what, double nanoseconds) const {
    if (comm_.rank() == 0) std::printf("%-52s %10.1f\n", what, nanoseconds);
  }

  void in_a_row() {
    std::uint64_t sum = 0;  // by one worker
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

// The same by MPI alone.
void measure_mpi(int rank, int count) {
  const int other = 1 - rank;
  std::vector<std::byte> bytes(large);
  const auto print = [&](const char* what, double nanoseconds) {
    if (rank == 0) std::printf("MPI: %-47s %10.1f\n", what, nanoseconds);
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
  print("a message of 512 KiB that answers one", answers(std::max(count / 1000, 1), large));
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Both wait for rank 0, which does nothing.
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
  teff::mpi job(argc, argv, {.rings = !asks_for("messages")});
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
