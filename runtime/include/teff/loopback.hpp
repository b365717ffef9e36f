// loopback: several ranks in one process, for tests and debugging.
#pragma once

#include <teff/transport.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace teff {

namespace detail {
class local_job;
}  // namespace detail

// A job of several ranks in this process. Each rank has its own transport, and usually its own runtime.
//
//   teff::loopback job(2);
//   teff::runtime rt0{{.workers = 1}}, rt1{{.workers = 1}};
//   teff::communicator zero{rt0, job.rank(0)}, one{rt1, job.rank(1)};
//
// A packet is handed over, not copied. The data of a large message are copied once. Any thread may call any
// function. The job outlives all channels.
class loopback {
 public:
  // Throws misuse if there would be no rank.
  explicit loopback(int ranks);
  ~loopback();
  loopback(const loopback&) = delete;
  loopback& operator=(const loopback&) = delete;

  [[nodiscard]] int ranks() const noexcept;
  // Throws misuse if there is no such rank.
  [[nodiscard]] transport& rank(int rank);

 protected:
  // `called`: the class, in errors. `seed`: of the delays; none: there are no delays.
  loopback(const char* called, int ranks, std::optional<std::uint64_t> seed);

  std::unique_ptr<detail::local_job> job_;
};

}  // namespace teff
