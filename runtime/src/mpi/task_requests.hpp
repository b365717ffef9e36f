// The requests of MPI that tasks wait for, and the communicator of the operations that tasks begin.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace teff::detail {

// Guards all calls of MPI in this process, so that the level SERIALIZED is enough.
[[nodiscard]] std::mutex& mpi_calls() noexcept;

// The operation of a request, for traces, errors and reports.
struct request_text {
  enum kinds : std::uint8_t { send, receive, collective, of_program };
  kinds kind;
  const char* name;
  const char* what;  // as "a receive from rank"; then come the numbers that are not negative
  int rank = -1;
  int tag = -1;
  std::size_t bytes = 0;

  [[nodiscard]] std::string words() const;
};

// The part of a job that tasks use. All ranks make it together, and leave it together.
class task_messages {
 public:
  task_messages();
  ~task_messages();
  task_messages(const task_messages&) = delete;
  task_messages& operator=(const task_messages&) = delete;

  // Of this process: the oldest one that lives. `call`: the public function, in words. Throws misuse if there
  // is none.
  [[nodiscard]] static task_messages& current(const char* call);

  // Calls begin(requests), which begins `count` requests and returns a code of MPI. The end of the calling
  // thread's task waits for them. Throws misuse, communication_failed, std::bad_alloc.
  void start(const char* call, const request_text& text, std::size_t count,
             const std::function<int(MPI_Request*)>& begin);
  // Returns true when all ranks have called it. This rank begins no operation any more, and its own have
  // completed. Meanwhile it tells ranks that still wait for a message of this rank. `fails`: an exception
  // leaves the job here. Then it tells nobody, and returns false if other ranks do not come soon.
  [[nodiscard]] bool leave(bool fails);

  // ---- The caller holds mpi_calls() ----

  // Notes which ranks have left.
  void hear_who_left() noexcept;
  [[nodiscard]] bool some_left() const noexcept { return !left_.empty(); }
  // A request completes as cancelled if it waits for a message of a rank that has left. `number`: of a
  // collective operation. If a rank has left that would have to take part in it, nothing can complete it, and
  // the process ends.
  void cancel_if_hopeless(const request_text& text, std::uint64_t number, MPI_Request& request) noexcept;

  [[nodiscard]] MPI_Comm all() const noexcept { return all_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  // Whether tasks may call MPI themselves while other workers do.
  [[nodiscard]] bool program_may_call() const noexcept { return program_may_call_; }
  [[nodiscard]] int largest_tag() const noexcept { return largest_tag_; }

 private:
  void listen_for_leaving() noexcept;

  static std::atomic<task_messages*> current_;

  MPI_Comm all_ = MPI_COMM_NULL;          // its operations return errors
  MPI_Comm leaving_all_ = MPI_COMM_NULL;  // for leave(), while another rank may be in a collective operation
  int ranks_ = 1;
  int largest_tag_ = 0;
  bool program_may_call_ = false;

  // Guarded by mpi_calls().
  std::uint64_t collectives_ = 0;       // that this rank has begun
  MPI_Request leaving_;                 // receives how many collectives a rank had begun that has left
  std::uint64_t begun_by_leaving_ = 0;  // by the rank that leaves next
  std::map<int, std::uint64_t> left_;   // ranks that have left, and their collectives
};

}  // namespace teff::detail
