// Tasks as fibers of Boost. A launched fiber runs at once, and its launcher may be stolen. So few fibers
// exist at a time, and few stacks.
#pragma once

#include <boost/fiber/future.hpp>

#include <memory>
#include <utility>
#include <vector>

#include "stealing_threads.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

class task_system {
 public:
  explicit task_system(int workers) : threads_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "boost_fiber",
            .variant = "fibers",
            .version = boost_version(),
            .workers = threads_.workers()};
  }

  template <class Body>
  void run(Body body) {
    threads_.run(body);
  }

  class tasks {
   public:
    template <class Function>
    void spawn(Function function) {
      fibers_.emplace_back(boost::fibers::launch::dispatch, function);
      if (fibers_.size() == most) wait();  // a fiber that has ended keeps its stack until it is joined
    }
    void wait() {
      for (boost::fibers::fiber& each : fibers_) each.join();
      fibers_.clear();
    }

   private:
    static constexpr std::size_t most = 4096;
    std::vector<boost::fibers::fiber> fibers_;
  };

  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
    all.wait();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    boost::fibers::fiber task(boost::fibers::launch::dispatch, [&a, &first] { a = first(); });
    auto b = second();
    task.join();
    return std::pair(a, b);
  }

 private:
  stealing_threads threads_;
};

}  // namespace
