// A communicator as the workers of a runtime see it: a source of handlers to run.
#pragma once

#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/waiting.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>
#include "message/communicator_core.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace teff::detail {

// A rank that leaves, among what is left in an epoch.
inline constexpr std::uint64_t leaver = std::uint64_t{1} << 40;

class message_source final : public polled_source, private message_host {
 public:
  // `kind`: whose messages these are.
  message_source(runtime& rt, transport& through, std::size_t window, std::string kind,
                 epoch_part* part = nullptr);

  [[nodiscard]] communicator_core& core() noexcept { return core_; }

  // Returns when the epoch whose body has ended here has ended on all ranks.
  void wait_for_end() {
    wait_until([this] { return core_.ended(); });
  }
  // Called before the destruction of the object that `who` names. Other ranks may wait in epochs that this
  // rank is not going to begin. This rank takes part in these epochs and fails them, until all ranks leave.
  // `failed` is called within each. Afterwards it does nothing. `begun`: this rank has begun its part of the
  // first of them. Puts the counters into the runtime's trace, if it has one.
  void leave(const std::string& who, const std::function<void()>& failed = {}, bool begun = false) noexcept;
  // A description of what its epoch waits for.
  [[nodiscard]] std::string state();
  // Adds a description of an epoch that takes long; before the first one.
  void describe(std::function<std::string()> more) { more_ = std::move(more); }
  // As "communicator 1", the first one of this rank.
  [[nodiscard]] std::string name() const override { return kind_ + " " + std::to_string(number_); }

  bool run(unsigned worker) noexcept override;
  bool sees_work(unsigned /*worker*/) noexcept override { return core_.sees_work(); }
  std::optional<poll_time> next_poll() noexcept override;
  std::optional<doorbell> listen(std::uint32_t sleeper) noexcept override {
    return core_.line().listen(sleeper);
  }
  void rise(std::uint32_t sleeper) noexcept override { core_.line().rise(sleeper); }
  bool poll(unsigned worker) noexcept override;

 private:
  friend void send_message(message_source& of, int to, std::uint32_t number,
                           const outgoing_arguments& arguments);
  friend void run_epoch(message_source& of, action body);
  friend void keep_rounds(message_source& by, std::shared_ptr<kept_rounds> rounds);

  void work_came() noexcept override { published(private_access::internals(runtime_)); }
  void state_changed() noexcept override;
  [[nodiscard]] bool at_rest() noexcept override { return part_ == nullptr || part_->at_rest(); }
  [[nodiscard]] std::uint64_t left() noexcept override;
  [[nodiscard]] trace* traced() noexcept override;

  [[nodiscard]] incomplete_round error_of_rounds(std::uint64_t left);
  // Returns when done(), which becomes true before state_changed().
  void wait_until(condition done);

  runtime& runtime_;
  epoch_part* const part_;
  const std::string kind_;
  const unsigned number_;  // among the sources of this kind
  std::function<std::string()> more_;
  std::vector<std::shared_ptr<kept_rounds>> rounds_;
  bool leaves_ = false;
  const poll_time listens_until_;
  // For a transport that does not ring: the time of the last look, and of the last look that found something.
  std::atomic<poll_time::rep> looked_{0};
  std::atomic<poll_time::rep> found_{0};

  waiters waiters_;
  communicator_core core_;  // the last: its channel tells the others
};

}  // namespace teff::detail
