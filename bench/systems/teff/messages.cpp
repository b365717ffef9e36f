// Messages of teff::communicator and tasks of teff::distributed_graph, over MPI, with one worker a rank.
#include <teff/distributed_graph.hpp>
#include <teff/message.hpp>
#include <teff/mpi.hpp>
#include <teff/runtime.hpp>

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "teff/messages/drive.hpp"
#include "teff/messages/landings.hpp"

namespace {

using namespace teff::messages;

using number = std::uint64_t;
using bytes = std::span<const std::byte>;

/// Messages of this size and more go from memory to memory; shorter ones are copied at both ends.
constexpr std::size_t large = std::size_t{16} << 10;

/// Between runs the main thread answers by MPI, so the objects that use it on workers live no longer than a
/// pattern.
struct connection {
  explicit connection(teff::runtime& rt) : job(argc, argv), comm(rt, job) {}

  int argc = 0;
  char** argv = nullptr;
  teff::mpi job;
  teff::communicator comm;
};

class teff_peer final : public peer {
 public:
  void one_way(trial& at) override {
    contents message(at.asked().bytes);
    const auto numbered = [&](std::int64_t turn) { return message.numbered(static_cast<number>(turn)); };
    if (at.asked().bytes >= large) {
      there_and_back_large(at, numbered);
    } else if (at.asked().bytes > sizeof(number)) {
      there_and_back<bytes>(at, numbered);
    } else {
      there_and_back<number>(at, [](std::int64_t turn) { return static_cast<number>(turn); });
    }
  }

  void burst(trial& at) override {
    connection to(runtime_);
    const auto window = static_cast<number>(at.asked().window);
    number next = 0;
    std::int64_t turn = 0;
    std::optional<teff::message<number>> one;
    std::optional<teff::message<number>> answer;
    const auto send_window = [&] {
      if (!at.begins(turn)) return;
      for (const number end = next + window; next != end; ++next) one->send(1, next);
    };
    one = to.comm.on(teff::ordered, [&](number value) {
      at.arrived(value);
      if (++next % window == 0) answer->send(0, next / window - 1);
    });
    answer = to.comm.on([&](number of_turn) {
      at.arrived(of_turn);
      ++turn;
      send_window();
    });
    run(to, at, send_window);
  }

  void chain(trial& at) override {
    connection to(runtime_);
    teff::distributed_graph<std::int64_t> tasks(to.comm);
    tasks.rank([](std::int64_t task) { return static_cast<int>(task % 2); })
        .place([](std::int64_t) { return 0U; })
        .indegree([](std::int64_t) { return 1; })
        .body([&](std::int64_t task) {
          if (task > 0) at.arrived(static_cast<number>(task));
          if (at.rank() == 1 || at.begins(task / 2)) tasks.fulfill(task + 1);
        });
    runtime_.run([&] {
      tasks.wait();  // of nothing: until both ranks are here
      if (at.rank() == 1) at.start();
      if (at.rank() == 0) tasks.fulfill(0);
      tasks.wait();
      if (at.rank() == 1) at.stop();
    });
  }

  /// Nothing runs on either rank; a thread that sleeps ends it.
  void idle(trial& at) override {
    connection to(runtime_);
    std::jthread timer;
    const auto end = to.comm.on([&](number value) {
      at.arrived(value);
      at.stop();
    });
    to.comm.run([&] {
      at.start();
      if (at.rank() == 1) return;
      timer = std::jthread([&, held = to.comm.hold()] {
        std::this_thread::sleep_for(std::chrono::duration<double>(at.asked().idle_seconds));
        at.stop();
        end.send(1, 0);
      });
    });
  }

 private:
  /// `Data` as it is sent; make(turn) gives it.
  template <class Data, class Make>
  void there_and_back(trial& at, const Make& make) {
    connection to(runtime_);
    std::int64_t turn = 0;
    std::optional<teff::message<Data>> ball;
    ball = to.comm.on([&](Data data) {
      at.arrived(data);
      if (at.rank() == 1) {
        ball->send(0, data);
      } else if (at.begins(++turn)) {
        ball->send(1, make(turn));
      }
    });
    run(to, at, [&] {
      if (at.begins(turn)) ball->send(1, make(turn));
    });
  }

  /// make(turn) gives the data, once the data of the turn before may be changed.
  template <class Make>
  void there_and_back_large(trial& at, const Make& make) {
    connection to(runtime_);
    landings memory(at.asked().bytes);
    std::int64_t turn = 0;
    int awaited = 0;  // of rank 0: the answer, and permission to change the sent buffer
    std::optional<teff::large_message<std::byte>> ball;
    std::function<void()> ended;
    const auto begin = [&] {
      if (!at.begins(turn)) return;
      awaited = 2;
      ball->send(1, make(turn), ended);
    };
    ended = [&] {
      if (--awaited != 0) return;
      ++turn;
      begin();
    };
    ball = to.comm.on_large([&](std::size_t) { return memory.take(); },
                            [&](std::span<std::byte> data) {
                              at.arrived(data);
                              if (at.rank() == 1)
                                return ball->send(0, data, [&memory, data] { memory.give(data); });
                              memory.give(data);
                              ended();
                            });
    run(to, at, begin);
  }

  /// `begin` is for rank 0.
  template <class Begin>
  static void run(connection& to, trial& at, const Begin& begin) {
    to.comm.run([&] {
      if (at.rank() == 0) {
        begin();
      } else {
        at.start();
      }
    });
    if (at.rank() == 1) at.stop();
  }

  teff::runtime runtime_{{.workers = 1}};
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, MPI_THREAD_SERIALIZED,
               {.system = "teff", .variant = "ranks", .version = std::string(teff::version())},
               [] { return std::make_unique<teff_peer>(); });
}
