// TaskTorrent's active messages. If there are no tasks, the main thread makes progress until all is done. A
// chain of tasks runs in a pool of one thread a rank, and waits in the pool's join().
#include <tasktorrent/tasktorrent.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "teff/messages/drive.hpp"
#include "teff/messages/landings.hpp"

namespace {

using namespace teff::messages;

using number = std::uint64_t;

/// Messages of this size and more are large ones: they go from memory to memory.
constexpr std::size_t large = std::size_t{8} << 10;

ttor::view<char> view_of(std::span<const std::byte> bytes) {
  // TaskTorrent's views are of writable memory; it only reads the bytes that it sends.
  return {reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data())), bytes.size()};
}
std::span<const std::byte> bytes_of(const ttor::view<char>& view) {
  return std::as_bytes(std::span(view.data(), view.size()));
}

void progress_until(ttor::Communicator& comm, const auto& is_over) {
  while (!is_over() || !comm.is_done()) comm.progress();
}

class active_messages final : public peer {
 public:
  void one_way(trial& at) override {
    if (at.asked().bytes >= large) {
      there_and_back_large(at);
    } else {
      there_and_back(at);
    }
  }

  void burst(trial& at) override {
    ttor::Communicator comm(MPI_COMM_WORLD);
    const auto window = static_cast<number>(at.asked().window);
    const auto all = static_cast<number>(at.asked().all_turns());
    number answered = 0;
    number received = 0;
    auto* const one = comm.make_active_msg([&](number& value) {
      at.arrived(value);
      ++received;
    });
    auto* const answer = comm.make_active_msg([&](number& turn) {
      at.arrived(turn);
      ++answered;
    });
    if (at.rank() == 0) {
      for (std::int64_t turn = 0; at.begins(turn); ++turn) {
        const auto first = static_cast<number>(turn) * window;
        for (number next = first; next != first + window; ++next) one->send(1, next);
        progress_until(comm, [&] { return answered > static_cast<number>(turn); });
      }
      return;
    }
    at.start();
    for (number turn = 0; turn < all; ++turn) {
      progress_until(comm, [&] { return received == (turn + 1) * window; });
      answer->send(0, turn);
    }
    progress_until(comm, [] { return true; });
    at.stop();
  }

  void chain(trial& at) override {
    ttor::Communicator comm(MPI_COMM_WORLD);
    ttor::Threadpool pool(1, &comm, 0, "Wk_", false);
    ttor::Taskflow<std::int64_t> flow(&pool);
    auto* const next = comm.make_active_msg([&](std::int64_t& task) { flow.fulfill_promise(task); });
    flow.set_mapping([](std::int64_t) { return 0; })
        .set_indegree([](std::int64_t) { return 1; })
        .set_task([&](std::int64_t task) {
          if (task > 0) at.arrived(static_cast<number>(task));
          if (at.rank() == 0 && !at.begins(task / 2)) return;
          std::int64_t following = task + 1;
          next->send(at.other(), following);
        });
    pool.start();
    if (at.rank() == 0) {
      flow.fulfill_promise(0);
    } else {
      at.start();
    }
    pool.join();
    if (at.rank() == 1) at.stop();
  }

  /// Both ranks wait in join(). A task of rank 0 that sleeps meanwhile ends it.
  void idle(trial& at) override {
    ttor::Communicator comm(MPI_COMM_WORLD);
    ttor::Threadpool pool(1, &comm, 0, "Wk_", false);
    auto* const end = comm.make_active_msg([&](number& value) {
      at.arrived(value);
      at.stop();
    });
    auto* const sleeper = new Task();
    sleeper->run = [&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(at.asked().idle_seconds));
      at.stop();
      number none = 0;
      end->send(1, none);
    };
    sleeper->fulfill = [] {};
    sleeper->priority = 0;
    at.start();
    if (at.rank() == 0) {
      pool.insert(sleeper, 0, true);
    } else {
      delete sleeper;
    }
    pool.start();
    pool.join();
  }

 private:
  static void there_and_back(trial& at) {
    ttor::Communicator comm(MPI_COMM_WORLD);
    contents message(at.asked().bytes);
    std::int64_t arrived = 0;
    ttor::ActiveMsg<ttor::view<char>>* ball = nullptr;
    ball = comm.make_active_msg([&](ttor::view<char>& bytes) {
      at.arrived(bytes_of(bytes));
      ++arrived;
      if (at.rank() == 1) ball->send(0, bytes);
    });
    if (at.rank() == 0) {
      for (std::int64_t turn = 0; at.begins(turn); ++turn) {
        auto bytes = view_of(message.numbered(static_cast<number>(turn)));
        ball->send(1, bytes);
        progress_until(comm, [&] { return arrived > turn; });
      }
      return;
    }
    at.start();
    progress_until(comm, [&] { return arrived == at.asked().all_turns(); });
    at.stop();
  }

  static void there_and_back_large(trial& at) {
    ttor::Communicator comm(MPI_COMM_WORLD);
    contents message(at.asked().bytes);
    landings memory(at.asked().bytes);
    std::deque<std::span<std::byte>> landing;  // in the order of their messages
    std::deque<std::span<std::byte>> leaving;
    std::int64_t arrived = 0;
    ttor::ActiveMsg<int>* ball = nullptr;
    int none = 0;
    ball = comm.make_large_active_msg(
        [&](int&) {
          const auto here = landing.front();
          landing.pop_front();
          at.arrived(here);
          ++arrived;
          if (at.rank() == 0) return memory.give(here);
          leaving.push_back(here);
          ball->send_large(0, view_of(here), none);
        },
        [&](int&) {
          landing.push_back(memory.take());
          return reinterpret_cast<char*>(landing.back().data());
        },
        [&](int&) {
          if (at.rank() == 0) return;
          memory.give(leaving.front());
          leaving.pop_front();
        });
    if (at.rank() == 0) {
      for (std::int64_t turn = 0; at.begins(turn); ++turn) {
        ball->send_large(1, view_of(message.numbered(static_cast<number>(turn))), none);
        progress_until(comm, [&] { return arrived > turn; });
      }
      return;
    }
    at.start();
    progress_until(comm, [&] { return arrived == at.asked().all_turns(); });
    at.stop();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, MPI_THREAD_FUNNELED,
               {.system = "tasktorrent", .variant = "messages", .version = "1.0"},
               [] { return std::make_unique<active_messages>(); });
}
