// The requests of MPI that tasks wait for, and the communicator of the operations that tasks begin.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

namespace teff::detail {

// The operation of a request, for traces, errors and reports.
struct request_text {
  const char* name;
  const char* what;  // as "a receive from rank"; then come the numbers that are not negative
  int rank = -1;
  int tag = -1;
  std::size_t bytes = 0;

  [[nodiscard]] std::string words() const;
};

// The part of this process's job that its tasks use.
class task_messages {
 public:
  // On all ranks. `calls` guards all calls of MPI.
  explicit task_messages(std::mutex& calls);
  ~task_messages();
  task_messages(const task_messages&) = delete;
  task_messages& operator=(const task_messages&) = delete;

  // Of this process. `call`: the public function, in words. Throws misuse if there is no job.
  [[nodiscard]] static task_messages& current(const char* call);

  // Calls begin(requests), which begins `count` requests and returns a code of MPI. The end of the calling
  // thread's task waits for them. Throws misuse, communication_failed, std::bad_alloc.
  template <class Begin>
  void start(const char* call, request_text text, std::size_t count, Begin begin);
  // The same for requests that the program has begun. Throws misuse if it may not call MPI in tasks.
  void attach(const char* call, const MPI_Request* requests, std::size_t count);

  [[nodiscard]] std::mutex& calls() noexcept { return calls_; }
  [[nodiscard]] MPI_Comm all() const noexcept { return all_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] int largest_tag() const noexcept { return largest_tag_; }

 private:
  static std::atomic<task_messages*> current_;

  std::mutex& calls_;
  MPI_Comm all_ = MPI_COMM_NULL;  // its operations return errors
  int ranks_ = 1;
  int largest_tag_ = 0;
  bool program_may_call_ = false;
};

}  // namespace teff::detail
