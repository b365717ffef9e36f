// Programs on Kokkos: parallel_for and parallel_reduce over ranges, on the host's threads.
#pragma once

#include <cstdint>

#include "host.hpp"
#include "teff/programs/ways.hpp"

namespace {

class program_system {
 public:
  explicit program_system(int workers) : host_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const { return host_.describe("program"); }

  static void run_loops(const auto& body) { body(); }

  template <class Body>
  static void parallel_for(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
    const auto each = [&body](std::int64_t i) { body(i); };
    if (grain == 0) {
      Kokkos::parallel_for(range<Kokkos::Static>(first, last), each);
    } else {
      Kokkos::parallel_for(range<Kokkos::Dynamic>(first, last, Kokkos::ChunkSize(static_cast<int>(grain))),
                           each);
    }
    Kokkos::fence();
  }

  template <class T, class Body>
  [[nodiscard]] static T sum(std::int64_t first, std::int64_t last, const Body& body) {
    T total{};
    Kokkos::parallel_reduce(
        range<Kokkos::Static>(first, last), [&body](std::int64_t i, T& part) { part += body(i); }, total);
    return total;
  }

 private:
  template <class Schedule>
  using range = Kokkos::RangePolicy<host::space, Kokkos::Schedule<Schedule>, Kokkos::IndexType<std::int64_t>>;

  host host_;
};

}  // namespace
