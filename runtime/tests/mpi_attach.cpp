// A job of two processes whose tasks wait for requests of MPI. The first argument says which test; the exit
// status of each rank says whether all was right there.
#include <teff/attach.hpp>
#include <teff/distributed_graph.hpp>
#include <teff/flow.hpp>
#include <teff/message.hpp>
#include <teff/mpi.hpp>
#include <teff/named.hpp>
#include <teff/task_coroutine.hpp>

#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

template <class Error>
std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_thrown(const std::string& said, const char* part) {
  if (said.find(part) == std::string::npos) std::fprintf(stderr, "said: %s\n", said.c_str());
  expect(said.find(part) != std::string::npos, part);
}

// A ring of ranks: each step sends to the next rank what came from the one before.
void exchange(teff::runtime& rt, const teff::mpi& job) {
  const int rank = job.rank();
  const int next = (rank + 1) % job.ranks();
  const int before = (rank + job.ranks() - 1) % job.ranks();
  constexpr int steps = 1000;
  constexpr int lanes = 8;
  teff::flow f{rt};
  std::array<std::vector<int>, lanes> mine;
  std::array<std::vector<int>, lanes> came;
  for (int lane = 0; lane < lanes; ++lane) {
    mine[lane].assign(1 + 5000 * static_cast<std::size_t>(lane % 2), rank);
    came[lane].resize(mine[lane].size());
  }
  for (int step = 0; step < steps; ++step) {
    for (int lane = 0; lane < lanes; ++lane) {
      auto& from = mine[lane];
      auto& to = came[lane];
      f.task(teff::in(from), [&from, next, lane] { teff::mpi::isend(from, next, lane); });
      f.task(teff::out(to), [&to, before, lane] { teff::mpi::irecv(to, before, lane); });
      f.task(teff::in(to), teff::out(from), [&from, &to] {
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = to[i] + 1;
      });
    }
  }
  f.wait();
  const int origin = ((rank - steps) % job.ranks() + job.ranks()) % job.ranks();
  for (const auto& each : mine)
    for (const int value : each) expect(value == origin + steps, "a value that has gone round");
}

void collectives(teff::runtime& rt, const teff::mpi& job) {
  teff::flow f{rt};
  char order = 0;
  int sum = 0;
  double product = 2;
  std::array<unsigned char, 3> least{static_cast<unsigned char>(job.rank() + 1), 7, 9};
  std::vector<long> all(1000, -1);
  if (job.rank() == 0) std::iota(all.begin(), all.end(), 5);
  for (int i = 0; i < 100; ++i) {
    f.task(teff::inout(order), teff::inout(sum), [&] {
      sum = 1;
      teff::mpi::iallreduce(sum);
    });
    f.task(teff::in(sum), [&] { expect(sum == job.ranks(), "a sum"); });
  }
  f.task(teff::inout(order), teff::inout(product),
         [&] { teff::mpi::iallreduce(product, teff::mpi::operation::product); });
  f.task(teff::inout(order), teff::inout(least),
         [&] { teff::mpi::iallreduce(least, teff::mpi::operation::smallest); });
  f.task(teff::inout(order), teff::inout(all), [&] { teff::mpi::ibcast(all, 0); });
  f.task(teff::inout(order), [] { teff::mpi::ibarrier(); });
  f.wait();
  expect(product == 1 << job.ranks(), "a product");
  expect(least == std::array<unsigned char, 3>{1, 7, 9}, "the smallest");
  expect(all.front() == 5 && all.back() == 1004, "a broadcast");
}

// One task a lane: a coroutine that goes round the ring.
void coroutines(teff::runtime& rt, const teff::mpi& job) {
  const int rank = job.rank();
  const int next = (rank + 1) % job.ranks();
  const int before = (rank + job.ranks() - 1) % job.ranks();
  constexpr int steps = 200;
  constexpr int lanes = 20;
  teff::flow f{rt};
  std::array<std::vector<int>, lanes> lane_values;
  for (int lane = 0; lane < lanes; ++lane) {
    auto& mine = lane_values[lane];
    mine.assign(1 + 5000 * static_cast<std::size_t>(lane % 2), rank);
    f.task(teff::inout(mine), [&mine, next, before, lane]() -> teff::task_coroutine {
      std::vector<int> came(mine.size());
      for (int step = 0; step < steps; ++step) {
        teff::mpi::isend(mine, next, lane);
        co_await teff::mpi::recv(came, before, lane);  // and the send
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = came[i] + 1;
      }
    });
  }
  int sum = rank;
  int value = rank;
  f.task([&]() -> teff::task_coroutine {
    co_await teff::mpi::allreduce(sum);
    co_await teff::mpi::bcast(value, 1);
    co_await teff::mpi::barrier();
  });
  f.wait();
  const int origin = ((rank - steps) % job.ranks() + job.ranks()) % job.ranks();
  for (const auto& each : lane_values)
    for (const int one : each) expect(one == origin + steps, "a value that a coroutine has sent round");
  expect(sum == job.ranks() * (job.ranks() - 1) / 2, "a sum that a coroutine awaits");
  expect(value == 1, "a broadcast that a coroutine awaits");
}

// Tasks of a graph, beside a communicator that uses MPI's messages meanwhile.
void graph(teff::runtime& rt, teff::mpi& job) {
  teff::communicator comm(rt, job);
  std::atomic<int> came{0};
  const auto note = comm.on([&](std::vector<int> load) { came += static_cast<int>(load.size()); });
  teff::task_graph<int> g{rt};
  constexpr int count = 2000;
  const int other = (job.rank() + 1) % job.ranks();
  const int before = (job.rank() + job.ranks() - 1) % job.ranks();
  std::vector<std::array<int, 4>> landed(count);
  std::vector<std::array<int, 4>> sent(count);
  g.indegree([](int) { return 1; }).body([&](int k) {
    if (k < count) {
      sent[k] = {k, k, k, job.rank()};
      teff::mpi::isend(sent[k], other, k);
    } else {
      teff::mpi::irecv(landed[k - count], before, k - count);
    }
  });
  comm.run([&] {
    for (int k = 2 * count - 1; k >= 0; --k) {
      g.fulfill(k);
      if (k % 100 == 0) note.send(other, std::vector<int>(100));
    }
    g.wait();
  });
  for (int k = 0; k < count; ++k)
    expect(landed[k] == std::array<int, 4>{k, k, k, before}, "a message of a graph's task");
  expect(came == 2 * count, "the messages of the communicator");
}

// All receives are attached before the first message leaves. They have one tag: MPI walks over all receives
// of other tags to find a message's own.
void many(teff::runtime& rt, const teff::mpi& job) {
  constexpr int count = 100'000;
  const int other = 1 - job.rank();
  teff::flow f{rt};
  std::vector<int> values(count, -1);
  std::atomic<int> attached{0};
  char order = 0;
  for (int& value : values) {
    f.task(teff::out(value), [&, other] {
      teff::mpi::irecv(value, other);
      ++attached;
    });
  }
  f.task(teff::inout(order), [&] { teff::attach([&] { return attached.load() == count; }); });
  f.task(teff::inout(order), [] { teff::mpi::ibarrier(); });
  for (int i = 0; i < count; ++i) f.task(teff::inout(order), [i, other] { teff::mpi::isend(i, other); });
  f.wait();
  std::ranges::sort(values);
  for (int i = 0; i < count; ++i) expect(values[i] == i, "the values of a hundred thousand receives");
}

// The program's own requests.
void own_requests(teff::runtime& rt, const teff::mpi& job) {
  const int other = 1 - job.rank();
  teff::flow f{rt};
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    MPI_Request none = MPI_REQUEST_NULL;
    f.task([&] { teff::mpi::attach(none); });
    expect_thrown(thrown_by<teff::misuse>([&] { f.wait(); }), "not initialised at MPI_THREAD_MULTIPLE");
    return;
  }
  bool ended = false;
  f.task(teff::out(ended), [&] {
    teff::mpi::attach(MPI_REQUEST_NULL);
    teff::mpi::attach(std::vector<MPI_Request>());
    teff::mpi::attach(std::array{MPI_REQUEST_NULL, MPI_REQUEST_NULL});
  });
  f.task(teff::inout(ended), [&] { ended = true; });
  f.wait();
  expect(ended, "the end of a task that attaches nothing");
  // Persistent requests, some of them active.
  std::array<int, 4> box{job.rank(), -1, 0, 0};
  std::array<MPI_Request, 4> persistent{};
  MPI_Send_init(&box[0], 1, MPI_INT, other, 9, MPI_COMM_WORLD, &persistent[0]);
  MPI_Recv_init(&box[1], 1, MPI_INT, other, 9, MPI_COMM_WORLD, &persistent[1]);
  MPI_Send_init(&box[2], 1, MPI_INT, other, 9, MPI_COMM_WORLD, &persistent[2]);
  MPI_Recv_init(&box[3], 1, MPI_INT, other, 9, MPI_COMM_WORLD, &persistent[3]);
  f.task(teff::inout(box), [&] { teff::mpi::attach(persistent); });
  f.task(teff::inout(box), [&] {
    MPI_Startall(2, persistent.data());
    teff::mpi::attach(persistent);
  });
  f.wait();
  expect(box == std::array<int, 4>{job.rank(), other, 0, 0}, "a persistent receive beside inactive requests");
  for (auto& each : persistent) MPI_Request_free(&each);
  for (int step = 0; step < 100; ++step) {
    std::array<int, 3> in{};
    std::array<int, 3> out{step, step + 1, step + 2};
    f.task(teff::out(in), teff::in(out), [&] {
      MPI_Request requests[6];
      for (int i = 0; i < 3; ++i) {
        MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[3 + i]);
      }
      teff::mpi::attach(requests[0], requests[3]);
      teff::mpi::attach(std::span(requests).subspan(1, 2));
      teff::mpi::attach(std::vector(requests + 4, requests + 6));
    });
    int sum = 0;
    f.task(teff::in(in), teff::out(sum), [&] { sum = in[0] + in[1] + in[2]; });
    f.wait();
    expect(sum == 3 * step + 3, "values of the program's own requests");
  }
}

void faults(teff::runtime& rt, const teff::mpi& job) {
  const int other = 1 - job.rank();
  teff::flow f{rt};
  int value = 0;
  expect_thrown(thrown_by<teff::misuse>([&] { teff::mpi::irecv(value, other); }),
                "teff::mpi::irecv: called outside the body of a task");
  f.task([&] { teff::mpi::isend(value, 7); });
  expect_thrown(thrown_by<std::exception>([&] { f.wait(); }), "teff::mpi::isend");
  f.task([&] { teff::mpi::isend(value, other, -3); });
  expect_thrown(thrown_by<teff::misuse>([&] { f.wait(); }), "tag -3; tags are from 0 to");

  // A message that is longer than its receive. The flow that fails drops no send.
  teff::flow g{rt};
  std::vector<int> longer(10, job.rank());
  f.task(teff::out(value), [&] { teff::mpi::irecv(value, other, 3); });
  g.task(teff::in(longer), [&] { teff::mpi::isend(longer, other, 3); });
  g.wait();
  expect_thrown(thrown_by<teff::communication_failed>([&] { f.wait(); }),
                ("a receive from rank " + std::to_string(other) + ", tag 3, 4 bytes failed: ").c_str());

  // A body that throws: its request completes all the same before wait() returns.
  std::array<int, 1000> landed{};
  f.task(teff::out(landed), [&] {
    teff::mpi::irecv(landed, other, 4);
    teff::mpi::ibarrier();
    throw std::runtime_error("of the body");
  });
  std::array<int, 1000> sent{};
  sent.fill(job.rank() + 1);
  g.task(teff::in(sent), [&] { teff::mpi::isend(sent, other, 4); });
  g.wait();
  expect_thrown(thrown_by<std::runtime_error>([&] { f.wait(); }), "of the body");
  expect(landed.front() == other + 1 && landed.back() == other + 1, "the receive of a body that threw");
}

// Memory of any shape: columns of a matrix, which rows and vectors receive, and the other way round. The ends
// of the row of ranks have no neighbour.
void shapes(teff::runtime& rt, const teff::mpi& job) {
  constexpr std::size_t n = 7;
  const int rank = job.rank();
  const int right = rank + 1 < job.ranks() ? rank + 1 : MPI_PROC_NULL;
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  teff::flow f{rt};
  std::vector<int> a(n * n);
  std::iota(a.begin(), a.end(), 100 * rank);
  const std::vector<int> before = a;
  const auto column = [&](std::size_t at, std::size_t wide) { return teff::section(a, at, wide, n, n); };
  std::vector<int> row(2 * n, -1);
  f.task(teff::in(column(n - 2, 1)), [&] { teff::mpi::isend(column(n - 2, 1), right); });
  f.task(teff::out(column(0, 1)), [&] { teff::mpi::irecv(column(0, 1), left); });
  f.task(teff::in(column(3, 2)), [&] { teff::mpi::isend(column(3, 2), right, 1); });
  f.task(teff::out(row), [&] { teff::mpi::irecv(row, left, 1); });
  f.task(teff::in(teff::section(a, 2, 2)), [&] { teff::mpi::isend(teff::section(a, 2, 2), left, 2); });
  std::array<int, 3> two{-1, -1, -1};
  f.task(teff::out(two), [&] { teff::mpi::irecv(teff::section(two, 0, 1, 2, 2), right, 2); });
  f.wait();
  for (std::size_t i = 0; i < n; ++i) {
    expect(a[i * n] == (rank == 0 ? before[i * n] : before[i * n + n - 2] - 100), "a column from the left");
    for (const std::size_t k : {0, 1})
      expect(row[2 * i + k] == (rank == 0 ? -1 : before[i * n + 3 + k] - 100), "two columns in a vector");
    for (std::size_t k = 1; k < n; ++k) expect(a[i * n + k] == before[i * n + k], "the rest of the matrix");
  }
  const int other = 100 * (rank + 1);
  expect(two == (right < 0 ? std::array{-1, -1, -1} : std::array{other + 2, -1, other + 3}), "two numbers");

  char order = 0;
  f.task(teff::inout(order), [&] { teff::mpi::ibcast(order, MPI_PROC_NULL); });
  expect_thrown(thrown_by<std::exception>([&] { f.wait(); }), "teff::mpi::ibcast");
}

// A library makes and ends a second teff::mpi while that of the program lives.
void second(teff::runtime& rt, int& argc, char**& argv) {
  {
    const teff::mpi of_a_library(argc, argv);
  }
  teff::flow f{rt};
  int sum = 1;
  f.task(teff::inout(sum), [&] { teff::mpi::iallreduce(sum); });
  f.wait();
  expect(sum == 2, "a sum after the end of a second job");
}

// A task of the last rank fails, so messages that other ranks wait for are never sent. `caught`: within the
// block of the job. Then the other ranks are told that this rank has left.
void failing(teff::runtime& rt, const teff::mpi& job, bool caught, bool collective) {
  teff::flow f{rt};
  const int next = (job.rank() + 1) % job.ranks();
  const int before = (job.rank() + job.ranks() - 1) % job.ranks();
  std::vector<double> mine(100'000, job.rank());
  std::vector<double> halo(100'000);
  for (int step = 0; step < 10; ++step) {
    f.task(teff::in(mine), [&, step] { teff::mpi::isend(mine, next, step % 2); });
    f.task(teff::out(halo), [&, step] { teff::mpi::irecv(halo, before, step % 2); });
    f.task(teff::in(halo), teff::inout(mine), [&, step] {
      if (job.rank() == job.ranks() - 1 && step == 3) throw std::runtime_error("the matrix is singular");
      if (collective) teff::mpi::iallreduce(mine);
    });
  }
  try {
    f.wait();
  } catch (const std::exception& error) {
    if (!caught) throw;
    std::fprintf(stderr, "rank %d caught: %s\n", job.rank(), error.what());
  }
}

// What a wait of five seconds costs.
void idle(teff::runtime& rt, const teff::mpi& job) {
  const int other = 1 - job.rank();
  teff::flow f{rt};
  int value = 0;
  const auto used = [] {
    rusage all{};
    getrusage(RUSAGE_SELF, &all);
    return static_cast<double>(all.ru_utime.tv_sec + all.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(all.ru_utime.tv_usec + all.ru_stime.tv_usec);
  };
  char order = 0;
  f.task(teff::inout(order), [] { teff::mpi::ibarrier(); });
  f.wait();
  const auto before = used();
  constexpr std::chrono::seconds span{5};
  f.task(teff::out(value), [&] { teff::mpi::irecv(value, other, 1); });
  f.task(teff::inout(order), [&, until = std::chrono::steady_clock::now() + span] {
    teff::attach([=] { return std::chrono::steady_clock::now() >= until; });
  });
  const int sent = job.rank();
  f.task(teff::inout(order), [&] { teff::mpi::isend(sent, other, 1); });
  f.wait();
  std::printf("rank %d: a wait of %d s used %.2f %% of a core\n", job.rank(), static_cast<int>(span.count()),
              100 * (used() - before) / static_cast<double>(span.count()));
}

// The last rank dies, or goes on without an answer, while the others wait for it.
void lost(teff::runtime& rt, const teff::mpi& job, bool dies) {
  const int last = job.ranks() - 1;
  teff::flow f{rt};
  std::array<int, 4> value{};
  if (job.rank() == last && dies) {
    for (int to = 0; to < last; ++to) f.task(teff::out(value), [&, to] { teff::mpi::irecv(value, to, 1); });
    f.task(teff::inout(value), [&] { kill(getpid(), SIGKILL); });
    f.wait();
  } else if (job.rank() == last) {
    for (int to = 0; to < last; ++to)
      f.task(teff::inout(value),
             [&, until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500)] {
               teff::attach([=] { return std::chrono::steady_clock::now() >= until; });
             });
    for (int to = 0; to < last; ++to) f.task(teff::in(value), [&, to] { teff::mpi::isend(value, to, 2); });
    f.wait();
  } else {
    if (dies) f.task(teff::in(value), [&] { teff::mpi::isend(value, last, 1); });
    f.task(teff::out(value), teff::named<"halo">([&] { teff::mpi::irecv(value, last, 2); }));
    f.wait();
    std::fprintf(stderr, "rank %d: wait() has returned\n", job.rank());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string which = argc > 1 ? argv[1] : "exchange";
  const bool multiple = argc > 2 && std::string(argv[2]) == "multiple";
  int level = 0;
  if (multiple) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (multiple) expect(level == MPI_THREAD_MULTIPLE, "the level MULTIPLE");
  for (const unsigned workers : {1U, 2U}) {
    // MPI is finalised by the first object that initialises it.
    teff::mpi job(argc, argv, {.rings = which != "graph"});
    teff::runtime rt{{.workers = multiple ? workers : 2}};
    const std::map<std::string, std::function<void()>> tests{
        {"exchange", [&] { exchange(rt, job); }},
        {"collectives", [&] { collectives(rt, job); }},
        {"coroutines", [&] { coroutines(rt, job); }},
        {"graph", [&] { graph(rt, job); }},
        {"many", [&] { many(rt, job); }},
        {"own_requests", [&] { own_requests(rt, job); }},
        {"faults", [&] { faults(rt, job); }},
        {"shapes", [&] { shapes(rt, job); }},
        {"second", [&] { second(rt, argc, argv); }},
        {"thrown", [&] { failing(rt, job, false, false); }},
        {"caught", [&] { failing(rt, job, true, false); }},
        {"caught_beside_collectives", [&] { failing(rt, job, true, true); }},
        {"idle", [&] { idle(rt, job); }},
        {"killed", [&] { lost(rt, job, true); }},
        {"unanswered", [&] { lost(rt, job, false); }}};
    tests.at(which)();
    if (!multiple) break;
  }
  if (multiple) MPI_Finalize();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
