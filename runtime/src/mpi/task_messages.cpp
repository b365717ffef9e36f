// The messages of tasks: which job they belong to, and how ranks leave it.
#include <teff/error.hpp>

#include "mpi/mpi_bytes.hpp"
#include "mpi/task_requests.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace teff::detail {

std::mutex& mpi_calls() noexcept {
  static std::mutex calls;
  return calls;
}

namespace {

// All jobs that live, the oldest first. A library may make a job beside that of the program.
std::vector<task_messages*>& living_jobs() {
  static std::vector<task_messages*> all;
  return all;
}

}  // namespace

constinit std::atomic<task_messages*> task_messages::current_{nullptr};

std::string request_text::words() const {
  std::string text = what;
  if (rank >= 0) text += " " + std::to_string(rank);
  if (tag >= 0) text += ", tag " + std::to_string(tag);
  if (rank >= 0) text += ", " + std::to_string(bytes) + " bytes";
  return text;
}

task_messages::task_messages() {
  int level = 0;
  MPI_Query_thread(&level);
  program_may_call_ = level == MPI_THREAD_MULTIPLE;
  MPI_Comm_dup(MPI_COMM_WORLD, &all_);
  MPI_Comm_dup(MPI_COMM_WORLD, &leaving_all_);
  MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
  MPI_Comm_size(all_, &ranks_);
  int* tag = nullptr;
  int found = 0;
  MPI_Comm_get_attr(all_, MPI_TAG_UB, static_cast<void*>(&tag), &found);
  const int most = found != 0 ? *tag : 32767;  // the least that MPI allows
  largest_tag_ = most - 1;                     // `most` is for ranks that leave
  listen_for_leaving();
  const std::lock_guard lock(mpi_calls());
  living_jobs().push_back(this);
  current_.store(living_jobs().front());
}

task_messages::~task_messages() {
  {
    const std::lock_guard lock(mpi_calls());
    std::erase(living_jobs(), this);
    current_.store(living_jobs().empty() ? nullptr : living_jobs().front());
  }
  MPI_Cancel(&leaving_);
  MPI_Wait(&leaving_, MPI_STATUS_IGNORE);
  MPI_Comm_free(&leaving_all_);
  MPI_Comm_free(&all_);
}

task_messages& task_messages::current(const char* call) {
  if (auto* const now = current_.load(std::memory_order_acquire)) return *now;  // pairs with the constructor
  throw misuse(
      std::string(call) +
      ": this process is in no job: make a teff::mpi in main(), before the tasks, and keep it until they "
      "have ended");
}

// ---- Ranks that leave ----

void task_messages::listen_for_leaving() noexcept {
  MPI_Irecv(&begun_by_leaving_, 1, MPI_UINT64_T, MPI_ANY_SOURCE, largest_tag_ + 1, all_, &leaving_);
}

void task_messages::hear_who_left() noexcept {
  int heard = 0;
  MPI_Status status;
  MPI_Test(&leaving_, &heard, &status);
  if (heard == 0) return;
  left_[status.MPI_SOURCE] = begun_by_leaving_;
  listen_for_leaving();
}

void task_messages::cancel_if_hopeless(const request_text& text, std::uint64_t number,
                                       MPI_Request& request) noexcept {
  // MPI cancels no receive whose message has come, and what a rank has sent comes before it tells that it
  // leaves.
  if (text.kind == request_text::receive && left_.contains(text.rank)) MPI_Cancel(&request);
  if (text.kind != request_text::collective) return;
  const auto missing = std::ranges::find_if(left_, [&](const auto& each) { return each.second < number; });
  if (missing == left_.end()) return;
  std::fprintf(stderr, "teff::mpi: rank %d has left the job, so %s never completes: the job ends\n",
               missing->first, text.words().c_str());
  MPI_Abort(all_, EXIT_FAILURE);
}

bool task_messages::leave(bool fails) {
  // Ranks that end together come within this time.
  constexpr std::chrono::seconds soon{2};
  const auto since = std::chrono::steady_clock::now();
  MPI_Request all_leave = MPI_REQUEST_NULL;
  bool told = false;
  for (int over = 0;; std::this_thread::yield()) {
    const std::lock_guard lock(mpi_calls());
    if (all_leave == MPI_REQUEST_NULL) MPI_Ibarrier(leaving_all_, &all_leave);
    MPI_Test(&all_leave, &over, MPI_STATUS_IGNORE);
    if (over != 0) return true;
    static_cast<void>(receive_any(all_));  // a rank may wait until its message has left
    if (told || std::chrono::steady_clock::now() - since < soon) continue;
    if (fails) return false;
    for (int to = 0; to < ranks_; ++to) {
      // MPI copies so few bytes at once.
      MPI_Request sent = MPI_REQUEST_NULL;
      MPI_Isend(&collectives_, 1, MPI_UINT64_T, to, largest_tag_ + 1, all_, &sent);
      MPI_Request_free(&sent);
    }
    told = true;
  }
}

}  // namespace teff::detail
