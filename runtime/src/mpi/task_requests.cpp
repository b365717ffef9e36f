// Requests of MPI as events: workers test them, in batches (src/attached_events/README.md).
#include "mpi/task_requests.hpp"

#include <teff/detail/attached_events/attached_events.hpp>
#include <teff/detail/ready/inbox.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include "mpi/parts.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace teff::detail {

constinit std::atomic<task_messages*> task_messages::current_{nullptr};

std::string request_text::words() const {
  std::string text = what;
  if (rank >= 0) text += " " + std::to_string(rank);
  if (tag >= 0) text += ", tag " + std::to_string(tag);
  if (rank >= 0) text += ", " + std::to_string(bytes) + " bytes";
  return text;
}

namespace {

std::exception_ptr error_of(const request_text& text, int code) {
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(code, reason.data(), &length);
  return std::make_exception_ptr(
      communication_failed("teff::mpi: " + text.words() +
                           " failed: " + std::string(reason.data(), static_cast<std::size_t>(length))));
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
  std::uint64_t began = 0;  // ticks, if it is traced
  std::exception_ptr error;
  attached_call* next = nullptr;
};

// Only the worker that tests uses what is not atomic. Calls that are left at the end of the runtime stay: MPI
// may still complete their requests.
class attached_requests final : public event_set {
 public:
  [[nodiscard]] static std::unique_ptr<event_set> make() { return std::make_unique<attached_requests>(); }
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

  void take_new();
  std::size_t test(std::size_t begin, std::size_t some, tested& result) noexcept;
  void end_one(std::size_t place, int code, tested& result) noexcept;

  inbox<attached_call, &attached_call::next> new_;
  attached_call* untaken_ = nullptr;  // for lack of memory
  std::vector<MPI_Request> requests_;
  std::vector<attached_call*> calls_;  // by request
  std::size_t next_ = 0;               // in this pass, the requests before it were tested
  unsigned batches_ = 0;
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

void attached_requests::end_one(std::size_t place, int code, tested& result) noexcept {
  attached_call* const call = calls_[place];
  requests_[place] = requests_.back();
  calls_[place] = calls_.back();
  requests_.pop_back();
  calls_.pop_back();
  if (code != MPI_SUCCESS && call->error == nullptr)
    catch_all([&] { call->error = error_of(call->text, code); },
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
  {
    const std::lock_guard lock(task_messages::current("teff::mpi").calls());
    code = MPI_Testsome(static_cast<int>(some), requests_.data() + begin, &count, done_.data(),
                        statuses_.data());
  }
  std::array<std::pair<int, int>, at_a_time> ended;  // place, code
  const auto number = static_cast<std::size_t>(std::max(count, 0));
  for (std::size_t i = 0; i < number; ++i)
    ended[i] = {done_[i], code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : code};
  // The last request takes the place of one that has completed. From the end on, this moves no place that is
  // still to come.
  std::sort(ended.begin(), ended.begin() + static_cast<std::ptrdiff_t>(number), std::greater<>{});
  for (std::size_t i = 0; i < number; ++i)
    end_one(begin + static_cast<std::size_t>(ended[i].first), ended[i].second, result);
  return number;
}

event_set::tested attached_requests::test_some() noexcept {
  constexpr unsigned batches_between_newest = 16;
  catch_all([this] { take_new(); }, [] {});
  tested result;
  // Of many requests, the newest ones are most likely to complete soon.
  if (batches_++ % batches_between_newest == 0 && requests_.size() > 2 * at_a_time)
    static_cast<void>(test(requests_.size() - at_a_time, at_a_time, result));
  const auto begin = std::min(next_, requests_.size());
  const auto some = std::min(requests_.size() - begin, at_a_time);
  // A request that has taken the place of another may be left to the next pass.
  if (some != 0) next_ = begin + some - test(begin, some, result);
  result.all = next_ >= requests_.size();
  if (result.all) next_ = 0;
  return result;
}

}  // namespace

// ---- The job's part ----

task_messages::task_messages(std::mutex& calls) : calls_(calls) {
  int level = 0;
  MPI_Query_thread(&level);
  program_may_call_ = level == MPI_THREAD_MULTIPLE;
  MPI_Comm_dup(MPI_COMM_WORLD, &all_);
  MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
  MPI_Comm_size(all_, &ranks_);
  int* tag = nullptr;
  int found = 0;
  MPI_Comm_get_attr(all_, MPI_TAG_UB, static_cast<void*>(&tag), &found);
  largest_tag_ = found != 0 ? *tag : 32767;  // the least that MPI allows
  current_.store(this);
}

task_messages::~task_messages() {
  auto* mine = this;
  current_.compare_exchange_strong(mine, nullptr);
  MPI_Comm_free(&all_);
}

task_messages& task_messages::current(const char* call) {
  if (auto* const now = current_.load(std::memory_order_acquire)) return *now;  // pairs with the constructor
  throw misuse(
      std::string(call) +
      ": this process is in no job: make a teff::mpi in main(), before the tasks, and keep it until they "
      "have ended");
}

template <class Begin>
void task_messages::start(const char* call, request_text text, std::size_t count, Begin begin) {
  auto& held = hold_end_here(call);
  std::exception_ptr error;
  catch_all(
      [&] {
        auto& events = attached_events::of(held.of->runtime());
        auto& set = static_cast<attached_requests&>(events.events_made_by(&attached_requests::make));
        auto made = std::make_unique<attached_call>(held, events.is_watched(), text);
        made->requests.resize(count, MPI_REQUEST_NULL);
        if (ring_here() != nullptr) [[unlikely]]
          made->began = ticks_now();
        {
          const std::lock_guard lock(calls_);
          int code = begin(made->requests.data());
          if (code != MPI_SUCCESS) error = error_of(text, code);
          // Many requests complete at once, say sends of a few bytes.
          if (int done = 0; count == 1 && code == MPI_SUCCESS) {
            code = MPI_Test(made->requests.data(), &done, MPI_STATUS_IGNORE);
            if (code != MPI_SUCCESS) error = error_of(text, code);
            if (code != MPI_SUCCESS || done != 0) made->requests.front() = MPI_REQUEST_NULL;
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
  start(call, {"request", "requests of the program"}, count, [&](MPI_Request* to) {
    std::copy_n(requests, count, to);
    return MPI_SUCCESS;
  });
}

}  // namespace teff::detail

namespace teff {

namespace {

using detail::request_text;
using detail::task_messages;

// Calls begin(offset, size, request) for each part of a message, and returns the first code that is an error.
template <class Begin>
int begin_parts(std::size_t bytes, MPI_Request* requests, Begin begin) {
  int code = MPI_SUCCESS;
  detail::each_part(bytes, [&](std::size_t at, int size) {
    if (code == MPI_SUCCESS) code = begin(at, size, requests++);
  });
  return code;
}

task_messages& expect(const char* call, int rank, int tag) {
  auto& job = task_messages::current(call);
  if (rank < 0 || rank >= job.ranks()) detail::refuse_index(call, "rank", rank, job.ranks());
  if (tag < 0 || tag > job.largest_tag())
    throw misuse(std::string(call) + ": tag " + std::to_string(tag) + "; tags are from 0 to " +
                 std::to_string(job.largest_tag()));
  return job;
}

MPI_Datatype type_of(detail::mpi_number number) {
  using kind = detail::mpi_number::kinds;
  if (number.kind == kind::floating)
    return number.bytes == sizeof(float)    ? MPI_FLOAT
           : number.bytes == sizeof(double) ? MPI_DOUBLE
                                            : MPI_LONG_DOUBLE;
  const bool is_signed = number.kind == kind::with_sign;
  switch (number.bytes) {
    case 1:
      return is_signed ? MPI_INT8_T : MPI_UINT8_T;
    case 2:
      return is_signed ? MPI_INT16_T : MPI_UINT16_T;
    case 4:
      return is_signed ? MPI_INT32_T : MPI_UINT32_T;
    default:
      return is_signed ? MPI_INT64_T : MPI_UINT64_T;
  }
}

MPI_Op operation_of(mpi::operation operation) {
  switch (operation) {
    case mpi::operation::product:
      return MPI_PROD;
    case mpi::operation::smallest:
      return MPI_MIN;
    case mpi::operation::largest:
      return MPI_MAX;
    default:
      return MPI_SUM;
  }
}

}  // namespace

void mpi::send_bytes(std::span<const std::byte> data, int to, int tag) {
  constexpr auto call = "teff::mpi::isend";
  auto& job = expect(call, to, tag);
  job.start(call, {"send", "a send to rank", to, tag, data.size()}, detail::parts_of(data.size()),
            [&](MPI_Request* requests) {
              return begin_parts(data.size(), requests, [&](std::size_t at, int size, MPI_Request* request) {
                return MPI_Isend(data.data() + at, size, MPI_BYTE, to, tag, job.all(), request);
              });
            });
}

void mpi::receive_bytes(std::span<std::byte> data, int from, int tag) {
  constexpr auto call = "teff::mpi::irecv";
  auto& job = expect(call, from, tag);
  const request_text text{"receive", "a receive from rank", from, tag, data.size()};
  job.start(call, text, detail::parts_of(data.size()), [&](MPI_Request* requests) {
    return begin_parts(data.size(), requests, [&](std::size_t at, int size, MPI_Request* request) {
      return MPI_Irecv(data.data() + at, size, MPI_BYTE, from, tag, job.all(), request);
    });
  });
}

void mpi::broadcast_bytes(std::span<std::byte> data, int from) {
  constexpr auto call = "teff::mpi::ibcast";
  auto& job = expect(call, from, 0);
  job.start(call, {"broadcast", "a broadcast from rank", from, -1, data.size()},
            detail::parts_of(data.size()), [&](MPI_Request* requests) {
              return begin_parts(data.size(), requests, [&](std::size_t at, int size, MPI_Request* request) {
                return MPI_Ibcast(data.data() + at, size, MPI_BYTE, from, job.all(), request);
              });
            });
}

void mpi::reduce_numbers(void* data, std::size_t count, detail::mpi_number of, operation by) {
  constexpr auto call = "teff::mpi::iallreduce";
  auto& job = task_messages::current(call);
  if (count > INT_MAX)
    throw misuse(std::string(call) + ": " + std::to_string(count) +
                 " numbers; MPI reduces 2147483647 at most in "
                 "a call: reduce them in parts");
  job.start(call, {"allreduce", "an allreduce"}, 1, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), type_of(of), operation_of(by),
                          job.all(), request);
  });
}

void mpi::ibarrier() {
  constexpr auto call = "teff::mpi::ibarrier";
  auto& job = task_messages::current(call);
  job.start(call, {"barrier", "a barrier"}, 1,
            [&](MPI_Request* request) { return MPI_Ibarrier(job.all(), request); });
}

void mpi::attach_requests(const void* requests, std::size_t count, std::size_t bytes_of_one) {
  constexpr auto call = "teff::mpi::attach";
  if (bytes_of_one != sizeof(MPI_Request))
    throw misuse(std::string(call) + ": given something else than MPI_Request");
  task_messages::current(call).attach(call, static_cast<const MPI_Request*>(requests), count);
}

}  // namespace teff
