#pragma once

#include <barrier>
#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/barrier.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/version.hpp>
#include <string>
#include <thread>
#include <vector>

#include "teff/bench/cores.hpp"

/// `workers` threads, the calling one among them, each bound to a core, that steal fibers from each other.
/// They look for fibers while run() is called, without ever sleeping unless they are more than the cores;
/// otherwise they sleep. There is one in a program, for the schedulers of all threads are one set.
class stealing_threads {
 public:
  explicit stealing_threads(int workers) : begin_(workers), end_(static_cast<std::size_t>(workers)) {
    for (int worker = 1; worker < workers; ++worker)
      threads_.emplace_back([this, worker, workers] {
        enlist(worker, workers);
        while (takes_part()) end_.wait();  // a fiber's wait: meanwhile this thread runs others
      });
    enlist(0, workers);
  }
  ~stealing_threads() {
    stopping_ = true;
    begin_.arrive_and_wait();
    threads_.clear();
  }
  stealing_threads(const stealing_threads&) = delete;
  stealing_threads& operator=(const stealing_threads&) = delete;

  /// Calls body() in a fiber that any thread may run, once all of them are awake.
  template <class Body>
  void run(Body body) {
    begin_.arrive_and_wait();
    boost::fibers::fiber(body).join();
    end_.wait();
  }

  /// The threads that run, the calling one among them.
  [[nodiscard]] int workers() const { return static_cast<int>(threads_.size()) + 1; }

  /// Not inline: a fiber may come back from a wait on another thread, where this is another variable.
  [[gnu::noinline]] static int this_worker() { return number(); }

 private:
  static int& number() {
    thread_local int worker = 0;
    return worker;
  }

  /// The schedulers wait for each other here. A single scheduler has none to steal from.
  static void enlist(int worker, int workers) {
    number() = worker;
    teff::bench::bind_to_core(worker);
    if (workers > 1)
      boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(
          static_cast<std::uint32_t>(workers), workers > teff::bench::usable_cores());
  }

  bool takes_part() {
    begin_.arrive_and_wait();
    return !stopping_;
  }

  std::barrier<> begin_;
  boost::fibers::barrier end_;
  bool stopping_ = false;  ///< written before begin_, read after it
  std::vector<std::jthread> threads_;
};

inline std::string boost_version() {
  return "Boost " + std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
}
