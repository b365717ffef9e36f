// Requests of MPI as events: workers test them, in batches (src/attached_events/README.md).
#include "mpi/task_requests.hpp"

#include <teff/detail/attached_events/attached_events.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <span>
#include <utility>

namespace teff::detail {

namespace {

std::exception_ptr error_of(const request_text& text, int code) {
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(code, reason.data(), &length);
  return std::make_exception_ptr(
      communication_failed("teff::mpi: " + text.words() +
                           " failed: " + std::string(reason.data(), static_cast<std::size_t>(length))));
}

std::exception_ptr error_of_left_rank(const request_text& text) {
  return std::make_exception_ptr(rank_failed("teff::mpi: rank " + std::to_string(text.rank) +
                                                 " has left the job, so " + text.words() + " never completes",
                                             text.rank));
}

// Requests that one call has attached: an end waits for all of them.
struct attached_call final : attached_event {
  explicit attached_call(const request_text& of) : text(of) {}
  // A worker has seen that the operation has completed.
  ~attached_call() override {
    if (auto* const ring = ring_here(); ring != nullptr && began != 0) [[unlikely]]
      record(*ring, event_kind::request, text.name, began, static_cast<std::uint32_t>(text.rank));
  }
  [[nodiscard]] std::string words() const override { return text.words(); }
  void expect_all() noexcept { left_ = requests.size(); }

  request_text text;
  std::vector<MPI_Request> requests;  // until a worker takes them to test them
  std::uint64_t number = 0;           // of a collective operation, from 1
  std::uint64_t began = 0;            // ticks, if it is traced
};

// Calls that are left at the end of the runtime stay: MPI may still complete their requests.
class attached_requests final : public event_set {
 private:
  // So many requests are tested under the lock of MPI at a time.
  static constexpr std::size_t at_a_time = 256;

  void append(attached_event& event) override;
  void test() noexcept override;
  void test_some(std::size_t first, std::size_t some) noexcept;
  [[nodiscard]] const attached_call& call(std::size_t part) const noexcept {
    return static_cast<const attached_call&>(*parts_[part]);
  }

  std::vector<MPI_Request> requests_;  // by part
  std::array<int, at_a_time> done_{};
  std::array<MPI_Status, at_a_time> statuses_{};
};

void attached_requests::append(attached_event& event) {
  const auto& more = static_cast<attached_call&>(event).requests;
  const auto size = requests_.size() + more.size();
  if (requests_.capacity() < size) requests_.reserve(2 * size);
  if (parts_.capacity() < size) parts_.reserve(2 * size);
  requests_.insert(requests_.end(), more.begin(), more.end());
  parts_.resize(size, &event);
}

// The last requests first: those that take the places of completed ones were tested before.
void attached_requests::test() noexcept {
  for (auto end = requests_.size(); end != 0;) {
    const auto some = std::min(end, at_a_time);
    test_some(end -= some, some);
  }
}

void attached_requests::test_some(std::size_t first, std::size_t some) noexcept {
  struct ended {
    std::size_t part;
    int code;
    bool cancelled;
  };
  std::array<ended, at_a_time> all;
  std::size_t number = 0;
  {
    const std::lock_guard lock(mpi_calls());
    auto& job = task_messages::current("teff::mpi");
    for (auto i = first; i < first + some && job.some_left(); ++i)
      job.cancel_if_hopeless(call(i).text, call(i).number, requests_[i]);
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(some), requests_.data() + first, &count, done_.data(),
                                  statuses_.data());
    number = static_cast<std::size_t>(std::max(count, 0));
    for (std::size_t i = 0; i < number; ++i) {
      int cancelled = 0;
      if (job.some_left()) MPI_Test_cancelled(&statuses_[i], &cancelled);
      all[i] = {first + static_cast<std::size_t>(done_[i]),
                code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : code, cancelled != 0};
    }
    if (number == 0) job.hear_who_left();
  }
  const std::span completed(all.data(), number);
  std::ranges::sort(completed, std::greater<>{}, &ended::part);
  for (const auto& [part, code, cancelled] : completed) {
    std::exception_ptr why;
    if (code != MPI_SUCCESS || cancelled)
      catch_all(
          [&] { why = cancelled ? error_of_left_rank(call(part).text) : error_of(call(part).text, code); },
          [&] { why = std::current_exception(); });
    requests_[part] = requests_.back();
    requests_.pop_back();
    end(part, std::move(why));
  }
}

}  // namespace

void task_messages::start(const char* call, const request_text& text, std::size_t count,
                          const std::function<int(MPI_Request*)>& begin) {
  auto& held = hold_end_here(call);
  std::exception_ptr error;
  catch_all(
      [&] {
        auto& events = attached_events::of(held.of->runtime());
        auto& set = events.set<attached_requests>(attached_events::requests);
        auto made = std::make_unique<attached_call>(text);
        made->hold(held, events.is_watched());
        made->requests.resize(count, MPI_REQUEST_NULL);
        if (ring_here() != nullptr) [[unlikely]]
          made->began = ticks_now();
        {
          const std::lock_guard lock(mpi_calls());
          if (text.kind == request_text::collective) made->number = ++collectives_;
          int code = begin(made->requests.data());
          if (code != MPI_SUCCESS) error = error_of(text, code);
          // Many requests complete at once, say sends of a few bytes. Inactive requests have completed: here
          // MPI says so, and MPI_Testsome does not.
          for (auto& each : made->requests) {
            int done = 0;
            code = MPI_Test(&each, &done, MPI_STATUS_IGNORE);
            if (code != MPI_SUCCESS && !error) error = error_of(text, code);
            if (code != MPI_SUCCESS || done != 0) each = MPI_REQUEST_NULL;
          }
        }
        std::erase(made->requests, MPI_REQUEST_NULL);
        if (made->requests.empty()) {
          made.reset();
          task_source_base::release(held);
        } else {
          made->expect_all();
          events.attach(set, *made.release());
        }
      },
      [&] {
        task_source_base::release(held);
        error = std::current_exception();
      });
  if (error) std::rethrow_exception(std::move(error));
}

}  // namespace teff::detail
