// A rank's part of a distributed graph, as far as the types of keys and data do not matter.
#pragma once

#include <teff/detail/message/message_access.hpp>
#include <teff/detail/task_source/task_source_base.hpp>
#include <teff/message.hpp>
#include <teff/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

namespace teff::detail {

class communicator_core;

// It ties the epochs of one channel to the rank's tasks: an epoch does not end before the tasks are at rest.
// One epoch is open at all times: wait() ends it, and begins the next.
class graph_part final : private epoch_part {
 public:
  // `like`: whose workers, transport and window it uses. `tasks`: of this rank.
  graph_part(communicator& like, std::shared_ptr<task_source_base> tasks);
  ~graph_part();

  [[nodiscard]] message_source& messages() noexcept { return *messages_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] message_counters counters();
  // The epoch fails, as communicator_core::fail() says.
  void fail(std::exception_ptr why, const std::string& where) noexcept;
  [[nodiscard]] bool cancelled() const noexcept {
    return (marks_->load(std::memory_order_relaxed) & cancelled_mark) != 0;
  }
  // Registers a message of the graph. Throws misuse within an epoch.
  [[nodiscard]] std::uint32_t add(registered_message added);
  // Any thread may call it, and often.
  void expect_begun() {
    // Acquire: pairs with the release in begin().
    if (!begun_.load(std::memory_order_acquire)) [[unlikely]]
      begin();
  }
  // Ends an epoch on all ranks.
  void wait();

 private:
  void begin();
  [[nodiscard]] bool at_rest() noexcept override;
  void follow_handlers() noexcept override;
  [[nodiscard]] std::uint64_t left() noexcept override { return tasks_->tasks_left(); }
  [[nodiscard]] std::string state() const override;
  [[nodiscard]] std::exception_ptr what_is_left();

  [[nodiscard]] communicator_core& core() noexcept;

  runtime& runtime_;
  const int rank_;
  const int ranks_;
  const std::shared_ptr<task_source_base> tasks_;
  std::mutex beginning_;
  std::atomic<bool> begun_{false};
  std::atomic<bool> awaits_rest_{false};
  std::shared_ptr<message_source> messages_;
  const std::atomic<unsigned>* const marks_;  // of the core
};

}  // namespace teff::detail
