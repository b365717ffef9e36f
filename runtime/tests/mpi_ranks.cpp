// A job of processes: messages, phases, failures and a task graph over MPI. mpiexec starts it. The exit
// status of each rank says whether all was right there. With the argument "messages", MPI's messages carry
// all packets; with "mpi_blocks", MPI carries the data of large messages.
#include <teff/distributed_graph.hpp>
#include <teff/distributed_replay.hpp>
#include <teff/message.hpp>
#include <teff/mpi.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

void flood(teff::communicator& comm) {
  std::atomic<long> visits{0};
  std::optional<teff::message<int, std::vector<int>>> hop;
  hop = comm.on([&](int left, const std::vector<int>& load) {
    expect(load.size() == static_cast<std::size_t>(left) * 100, "the load of a message");
    ++visits;
    if (left == 0) return;
    hop->send((comm.rank() + left) % comm.ranks(), left - 1,
              std::vector<int>(static_cast<std::size_t>(left - 1) * 100));
  });
  std::atomic<long> total{0};
  const auto report = comm.on([&](long part) { total += part; });
  for (int phase = 0; phase < 2; ++phase) {
    comm.run([&] {
      for (int i = 0; i < 300; ++i) hop->send(i % comm.ranks(), 3, std::vector<int>(300));
    });
    comm.run([&] { report.send(0, visits.exchange(0)); });
    if (comm.rank() == 0) expect(total.exchange(0) == 300L * 4 * comm.ranks(), "the number of messages");
  }
}

void large(teff::communicator& comm) {
  const std::size_t size = std::size_t{5} << 20;
  std::atomic<int> came{0};
  const auto each = comm.on([&](std::span<const double> values) {
    expect(values.size() == size && values.front() == 1.5 && values.back() == 2.5, "a large message");
    ++came;
  });
  comm.run([&] {
    std::vector<double> values(size, 0.0);
    values.front() = 1.5;
    values.back() = 2.5;
    each.send((comm.rank() + 1) % comm.ranks(), values);
  });
  expect(came == 1, "the number of large messages");
}

// Each rank sends several blocks to each rank. They land in memory that the receiver allocates when it is
// asked.
void blocks(teff::communicator& comm, std::size_t size, int times) {
  const auto ranks = static_cast<std::size_t>(comm.ranks());
  const auto value = [](int from, int to, int time, std::size_t i) {
    return 1000.0 * static_cast<double>(i) + 100.0 * from + 10.0 * to + time;
  };
  std::vector<std::vector<double>> landed(ranks * static_cast<std::size_t>(times));
  std::vector<std::vector<double>> data;
  std::atomic<int> came{0};
  std::atomic<int> reused{0};
  const auto block = comm.on_large(
      [&](int from, int time, std::size_t n) -> std::span<double> {
        auto& to = landed[static_cast<std::size_t>(from * times + time)];
        to.resize(n);
        return to;
      },
      [&](int from, int time, std::span<double> x) {
        expect(x.size() == size + static_cast<std::size_t>(time), "the size of a large message");
        for (std::size_t i = 0; i < x.size(); ++i)
          expect(x[i] == value(from, comm.rank(), time, i), "what lies there");
        ++came;
      });
  comm.run([&] {
    data.reserve(landed.size());
    for (int to = 0; to < comm.ranks(); ++to) {
      for (int time = 0; time < times; ++time) {
        auto& x = data.emplace_back(size + static_cast<std::size_t>(time));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = value(comm.rank(), to, time, i);
        block.send(to, comm.rank(), time, x, [&reused, &x] {
          std::ranges::fill(x, -1.0);
          ++reused;
        });
      }
    }
  });
  expect(came == times * comm.ranks(), "the number of large messages");
  expect(reused == times * comm.ranks(), "how often data may be used again");
}

void failing_blocks(teff::communicator& comm, std::size_t size) {
  std::vector<double> data(size, 1.0);
  std::vector<double> landed(data.size());
  const auto block = comm.on_large([&](std::size_t) { return std::span(landed).first(1); },
                                   [](std::span<double>) { expect(false, "too little memory is an error"); });
  try {
    comm.run([&] { block.send(0, data); });
    expect(false, "nothing was thrown");
  } catch (const teff::wrong_landing&) {
    expect(comm.rank() == 0, "the rank that names too little memory");
  } catch (const teff::rank_failed& e) {
    expect(comm.rank() != 0 && e.rank == 0, "the rank that has named too little memory");
  }
  comm.run([] {});
}

void failure(teff::communicator& comm) {
  const auto each = comm.on([](int) { throw std::out_of_range("as asked"); });
  const int bad = comm.ranks() - 1;
  try {
    comm.run([&] {
      if (comm.rank() == 0) each.send(bad, 1);
    });
    expect(false, "nothing was thrown");
  } catch (const std::out_of_range&) {
    expect(comm.rank() == bad, "the rank that throws the exception itself");
  } catch (const teff::rank_failed& e) {
    expect(comm.rank() != bad && e.rank == bad, "the rank that has failed");
  }
  comm.run([] {});
}

void stencil(teff::communicator& comm) {
  using key = std::array<int, 2>;
  constexpr int width = 8;
  constexpr int steps = 100;
  std::atomic<int> ran{0};
  std::atomic<int> data{0};
  teff::distributed_graph<key, std::span<const int>> g(comm);
  g.rank([&](key k) { return k[1] % comm.ranks(); })
      .indegree([](key k) { return k[0] == 0                        ? 1
                                   : k[1] == 0 || k[1] == width - 1 ? 2
                                                                    : 3; })
      .arrived([&](key k, std::span<const int> values) {
        expect(values.size() == 2 && values[1] == k[0], "the data of a key");
        ++data;
      })
      .body([&](key k) {
        ++ran;
        if (k[0] + 1 == steps) return;
        const std::array<int, 2> values{k[1], k[0] + 1};
        for (int i = std::max(0, k[1] - 1); i <= std::min(width - 1, k[1] + 1); ++i)
          g.fulfill({k[0] + 1, i}, values);
      });
  int columns = 0;
  for (int i = comm.rank(); i < width; i += comm.ranks(), ++columns)
    g.fulfill({0, i}, std::array<int, 2>{i, 0});
  g.wait();
  expect(ran == steps * columns, "the number of tasks");
}

// Task (step, rank) takes a block of each rank's task of the step before, and sends a block to the tasks of
// the next step on all ranks.
void block_steps(teff::communicator& comm) {
  using key = std::array<int, 2>;
  constexpr int steps = 5;
  const std::size_t size = std::size_t{1} << 16;
  const auto ranks = static_cast<std::size_t>(comm.ranks());
  const auto place = [&](int step, int from) {
    return static_cast<std::size_t>(step) * ranks + static_cast<std::size_t>(from);
  };
  std::vector<std::vector<long>> came(steps * ranks, std::vector<long>(size));
  std::vector<std::vector<long>> made(steps, std::vector<long>(size));
  std::atomic<int> ran{0};
  teff::distributed_graph<key> g(comm);
  const auto block =
      g.on_large([&](key k, int from, std::size_t) -> std::span<long> { return came[place(k[0], from)]; });
  const auto send_all = [&](int step, std::vector<long>& x) {
    const auto left = std::make_shared<std::atomic<int>>(comm.ranks());
    for (int to = 0; to < comm.ranks(); ++to) {
      block.fulfill({step, to}, comm.rank(), x, [&x, left] {
        if (--*left == 0) std::ranges::fill(x, -1);
      });
    }
  };
  g.rank([](key k) { return k[1]; }).indegree([&](key) { return comm.ranks(); }).body([&](key k) {
    ++ran;
    long sum = 0;
    for (int from = 0; from < comm.ranks(); ++from) {
      const auto& x = came[place(k[0], from)];
      expect(std::ranges::count(x, x[0]) == std::ssize(x), "what lies in a block of a key");
      sum += x[0] % 1000;
    }
    long expected = 0;
    for (int from = 0; from < comm.ranks(); ++from) expected += (k[0] * 10 + from) % 1000;
    expect(sum == expected, "the sum of the blocks of a key");
    if (k[0] + 1 == steps) return;
    auto& x = made[static_cast<std::size_t>(k[0])];
    std::ranges::fill(x, (k[0] + 1) * 10 + comm.rank());
    send_all(k[0] + 1, x);
  });
  std::vector<long> first(size, comm.rank());
  send_all(0, first);
  g.wait();
  expect(ran == steps, "the number of tasks that take blocks");
}

// Each rank adds up the outputs of all ranks in the iteration before. An output is large, or one number.
void replay(teff::communicator& comm, std::size_t size) {
  teff::distributed_replay<int> g(comm);
  g.rank([](int rank) { return rank; });
  std::vector<teff::replay_input<int>> all;
  for (int i = 0; i < comm.ranks(); ++i) all.push_back({i, 1});
  g.add(comm.rank(), size * sizeof(long), all, 1);
  const auto step = [&](int rank, const teff::replayed_task& task) {
    long sum = rank;
    for (std::size_t i = 0; i < task.inputs.size() && task.iteration != 0; ++i) {
      expect(task.input_as<long>(i).front() == task.input_as<long>(i).back(), "the ends of an output");
      sum += task.input_as<long>(i)[size / 2] % 1000;
    }
    std::ranges::fill(task.output_as<long>(), sum);
  };
  std::vector<long> expected;
  for (int i = 0; i < comm.ranks(); ++i) expected.push_back(i);
  constexpr int steps = 200;
  for (int i = 1; i < steps; ++i) {
    long sum = 0;
    for (const long each : expected) sum += each % 1000;
    for (int k = 0; k < comm.ranks(); ++k) expected[static_cast<std::size_t>(k)] = sum + k;
  }
  const auto bad = comm.ranks() - 1;
  try {
    g.replay(steps, [&](int rank, const teff::replayed_task& task) {
      if (rank == bad && task.iteration == 17) throw std::out_of_range("as asked");
      step(rank, task);
    });
    expect(false, "nothing was thrown in a replay");
  } catch (const std::out_of_range&) {
    expect(comm.rank() == bad, "the rank whose replay throws the exception itself");
  } catch (const teff::rank_failed& e) {
    expect(comm.rank() != bad && e.rank == bad, "the rank whose replay has failed");
  }
  g.replay(steps / 2, step);
  g.replay(steps / 2, [&](int rank, const teff::replayed_task& task) {
    step(rank, task);
    if (task.iteration + 1 == steps)
      expect(task.output_as<long>()[0] == expected[static_cast<std::size_t>(rank)], "what a replay has made");
  });
}

// The last rank makes its second communicator late. The caller of this program looks at the watchdog's
// output.
void make_late(teff::runtime& rt, teff::mpi& job) {
  const teff::communicator first(rt, job);
  if (first.rank() == first.ranks() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  const teff::communicator second(rt, job);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "rings";
  teff::mpi job(argc, argv, {.rings = way != "messages", .reads_memory = way != "mpi_blocks"});
  teff::runtime rt{{.workers = 2}};
  if (way == "late") {
    make_late(rt, job);
    return 0;
  }
  {
    teff::communicator comm(rt, job);
    flood(comm);
    stencil(comm);
    block_steps(comm);
    replay(comm, 1);
    replay(comm, 9000);
  }
  teff::communicator comm(rt, job, {.window = 4096});
  flood(comm);
  large(comm);
  constexpr std::size_t too_large_to_deposit = std::size_t{1} << 18;
  constexpr std::size_t deposited = 32'000;
  blocks(comm, too_large_to_deposit, 3);
  blocks(comm, deposited, 8);
  blocks(comm, 3000, 20);
  failing_blocks(comm, too_large_to_deposit);
  failing_blocks(comm, deposited);
  failure(comm);
}
