// Tasks that end when an answer comes, and not when their bodies return: no worker waits for the answer.
#include <teff/teff.hpp>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

// Answers questions one after the other, on its thread.
class server {
 public:
  server() : thread_([this] { answer_all(); }) {}
  ~server() {
    ask({});
    thread_.join();
  }
  void ask(std::function<void()> question) {
    {
      const std::lock_guard lock(mutex_);
      questions_.push_back(std::move(question));
    }
    asked_.notify_one();
  }

 private:
  void answer_all() {
    for (;;) {
      std::unique_lock lock(mutex_);
      asked_.wait(lock, [this] { return !questions_.empty(); });
      const auto next = std::move(questions_.front());
      questions_.pop_front();
      lock.unlock();
      if (!next) return;
      next();
    }
  }

  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<std::function<void()>> questions_;
  std::thread thread_;
};

int main() {
  constexpr int levels = 12;
  constexpr int tasks = (1 << levels) - 1;  // a binary tree: 2 k + 1 and 2 k + 2 follow k
  long sum = 0;                             // only the server's thread adds to it

  teff::runtime rt;
  teff::task_graph<int> graph{rt};
  server names;
  graph.indegree([](int k) { return k == 0 ? 0 : 1; });
  graph.body([&](int k) {
    // The closure is copied, so it has a pointer to the handle.
    auto* const held = new teff::held_task(graph.hold_end());
    names.ask([&, k, held] {
      sum += k;
      for (const int next : {2 * k + 1, 2 * k + 2}) {
        if (next < tasks) graph.fulfill(next);
      }
      delete held;  // the end of task k, after what it has fulfilled
    });
  });
  graph.start(0);
  graph.wait();  // until all tasks have ended

  std::printf("%d tasks, sum of their keys: %ld\n", tasks, sum);
  return sum == static_cast<long>(tasks) * (tasks - 1) / 2 ? 0 : 1;
}
