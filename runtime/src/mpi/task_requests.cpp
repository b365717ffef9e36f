// Requests of MPI as events: workers test them, in batches (src/attached_events/README.md).
#include "mpi/task_requests.hpp"

#include <teff/detail/attached_events/attached_events.hpp>
#include <teff/detail/ready/inbox.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

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

// A worker has seen that the operation has completed. `began`: 0 if its beginning was not traced.
void trace_end(const request_text& text, std::uint64_t began) noexcept {
  if (auto* const ring = ring_here(); ring != nullptr && began != 0) [[unlikely]]
    record_request(*ring, text.name, text.rank, began);
}

// Requests that one call has attached: an end waits for all of them.
struct attached_call {
  attached_call(held_end<>& held, bool watched, request_text of) : end(held, watched), text(of) {}

  waiting_end end;
  request_text text;
  std::vector<MPI_Request> requests;  // until a worker takes them to test them
  std::size_t left = 0;
  std::uint64_t number = 0;  // of a collective operation, from 1
  std::uint64_t began = 0;   // ticks, if it is traced
  std::exception_ptr error;
  attached_call* next = nullptr;
};

// Only the worker that tests uses what is not atomic. Calls that are left at the end of the runtime stay: MPI
// may still complete their requests.
class attached_requests final : public event_set {
 public:
  void add(attached_call& call) noexcept { new_.push(call); }

  tested test_some() noexcept override;
  void describe(polled_source::poll_time since, std::vector<std::string>& to) const override {
    const attached_call* last = nullptr;
    for (const auto* each : calls_) {
      if (each != last && each->end.since() <= since)
        to.push_back(each->end.task() + " waits for " + each->text.words());
      last = each;
    }
  }

 private:
  static constexpr std::size_t at_a_time = 256;

  struct ended {
    std::size_t place;
    int code;
    bool cancelled;
  };

  void take_new();
  std::size_t test(std::size_t begin, std::size_t some, tested& result) noexcept;
  void end_one(const ended& one, tested& result) noexcept;

  inbox<attached_call, &attached_call::next> new_;
  attached_call* untaken_ = nullptr;  // for lack of memory
  std::vector<MPI_Request> requests_;
  std::vector<attached_call*> calls_;  // by request
  std::size_t next_ = 0;               // in this pass, the requests before it were tested
  std::array<int, at_a_time> done_{};
  std::array<MPI_Status, at_a_time> statuses_{};
};

// Throws std::bad_alloc; then the calls stay.
void attached_requests::take_new() {
  for (;;) {
    if (untaken_ == nullptr) untaken_ = new_.take_all();
    if (untaken_ == nullptr) return;
    attached_call& each = *untaken_;
    const auto size = requests_.size() + each.requests.size();
    if (requests_.capacity() < size) requests_.reserve(2 * size);
    if (calls_.capacity() < size) calls_.reserve(2 * size);
    for (const auto request : each.requests) {
      requests_.push_back(request);
      calls_.push_back(&each);
    }
    untaken_ = each.next;
  }
}

void attached_requests::end_one(const ended& one, tested& result) noexcept {
  attached_call* const call = calls_[one.place];
  requests_[one.place] = requests_.back();
  calls_[one.place] = calls_.back();
  requests_.pop_back();
  calls_.pop_back();
  if ((one.code != MPI_SUCCESS || one.cancelled) && call->error == nullptr)
    catch_all(
        [&] {
          call->error = one.cancelled ? error_of_left_rank(call->text) : error_of(call->text, one.code);
        },
        [&] { call->error = std::current_exception(); });
  if (--call->left != 0) return;
  ++result.completed;
  trace_end(call->text, call->began);
  const waiting_end end = std::move(call->end);
  auto error = std::move(call->error);
  delete call;
  end.release(std::move(error));
}

// Tests so many requests from this place on. Returns how many have completed.
std::size_t attached_requests::test(std::size_t begin, std::size_t some, tested& result) noexcept {
  int count = 0;
  int code = MPI_SUCCESS;
  std::array<ended, at_a_time> all;
  std::size_t number = 0;
  {
    const std::lock_guard lock(mpi_calls());
    auto& job = task_messages::current("teff::mpi");
    for (auto i = begin; i < begin + some && job.some_left(); ++i)
      job.cancel_if_hopeless(calls_[i]->text, calls_[i]->number, requests_[i]);
    code = MPI_Testsome(static_cast<int>(some), requests_.data() + begin, &count, done_.data(),
                        statuses_.data());
    number = static_cast<std::size_t>(std::max(count, 0));
    for (std::size_t i = 0; i < number; ++i) {
      int cancelled = 0;
      if (job.some_left()) MPI_Test_cancelled(&statuses_[i], &cancelled);
      all[i] = {begin + static_cast<std::size_t>(done_[i]),
                code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : code, cancelled != 0};
    }
    if (number == 0) job.hear_who_left();
  }
  // The last request takes the place of one that has completed. From the end on, this moves no place that is
  // still to come.
  const std::span completed(all.data(), number);
  std::ranges::sort(completed, std::greater<>{}, &ended::place);
  for (const auto& each : completed) end_one(each, result);
  return number;
}

event_set::tested attached_requests::test_some() noexcept {
  catch_all([this] { take_new(); }, [] {});
  tested result;
  const auto begin = std::min(next_, requests_.size());
  const auto some = std::min(requests_.size() - begin, at_a_time);
  // A request that has taken the place of another may be left to the next pass.
  if (some != 0) next_ = begin + some - test(begin, some, result);
  result.all = next_ >= requests_.size();
  if (result.all) next_ = 0;
  return result;
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
        auto made = std::make_unique<attached_call>(held, events.is_watched(), text);
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
        made->left = made->requests.size();
        if (made->left == 0) {
          trace_end(text, made->began);
          task_source_base::release(held);
        } else {
          events.attach([&] { set.add(*made.release()); });
        }
      },
      [&] {
        task_source_base::release(held);
        error = std::current_exception();
      });
  if (error) std::rethrow_exception(std::move(error));
}

void task_messages::attach(const char* call, const MPI_Request* requests, std::size_t count) {
  if (!program_may_call_)
    throw misuse(std::string(call) +
                 ": MPI is not initialised at MPI_THREAD_MULTIPLE, so no task may call MPI while other "
                 "workers do: call "
                 "MPI_Init_thread for that level before teff::mpi is made, or let the task call "
                 "teff::mpi::isend, irecv, "
                 "ibcast, iallreduce, ibarrier");
  const auto copy = [&](MPI_Request* to) {
    std::copy_n(requests, count, to);
    return MPI_SUCCESS;
  };
  start(call, {request_text::of_program, "request", "requests of the program"}, count, std::ref(copy));
}

}  // namespace teff::detail
