// The functions of MPI, in C and in both Fortran bindings. A body is what a thread runs from one waiting call
// to the next. In every implementation all arguments are integers and pointers, so the collector needs no
// mpi.h.
#include <cstdint>

#include "file.hpp"
#include "runtimes.hpp"
#include "seats.hpp"

namespace teff::collect {

namespace {

enum class role {
  begin,       // of the whole program's messages
  end,         // likewise
  post,        // makes a message or a request, and does not wait for others
  send,        // likewise, but may wait if the message is long
  test,        // asks whether something came
  wait,        // for messages of a partner
  collective,  // waits for a group
};

// The thread is in a function of MPI, which may call others: a binding of Fortran calls the function of C.
constinit thread_local bool is_within = false;

constexpr std::uint64_t long_send = 1 << 17;  // ticks: 50 us at 2.6 GHz. Shorter ones copy the message

void begin_between(seat& thread, const incoming_call& call) {
  activation* body = thread.current;
  if (body == nullptr) {
    body = thread.begin_part(kind::between_waits, call.caller, state::message);
    if (body == nullptr) return thread.enter(state::serial);
    thread.runtime = find_module(call.real);
  }
  body->own = body->segments = 0;
  body->address = call.caller;
  thread.enter(state::body);
}

// The thread is in a call that is no part of a body, and then in what `go_on` came from.
template <class GoOn>
long in_state(seat& thread, state what, GoOn go_on) {
  const state before = thread.doing();
  thread.enter(what);
  const long result = go_on();
  thread.enter(before);
  return result;
}

template <class GoOn>
long wait_for(seat& thread, kind why, const incoming_call& call, int partner, role what, GoOn go_on) {
  const state before = thread.doing();
  const bool is_body = thread.current != nullptr && thread.current->what == kind::between_waits;
  const bool ends_body = what != role::send && (thread.current == nullptr || is_body);
  thread.enter(what == role::send ? state::creation : state::message);
  const auto begin = thread.since();
  if (ends_body && is_body && what != role::end) thread.account(*thread.current);
  const long result = go_on();
  const auto now = ticks();
  if (what != role::send || now - begin > long_send) {
    thread.label(state::message);
    thread.account_wait(why, call.caller, now - begin, partner);
  }
  if (ends_body && what != role::end) {
    begin_between(thread, call);
  } else {
    thread.enter(what == role::end ? state::serial : before, now);
  }
  return result;
}

template <class GoOn>
long pass(const incoming_call& call, role what, int partner, GoOn go_on) {
  seat* const thread = is_within ? nullptr : here();
  if (thread == nullptr) return go_on();
  is_within = true;
  long result = 0;
  switch (what) {
    case role::begin:
      result = in_state(*thread, state::start, go_on);
      thread->take_part();
      if (thread->current == nullptr) begin_between(*thread, call);
      break;
    case role::post:
      result = in_state(*thread, state::creation, go_on);
      break;
    case role::test:
      result = in_state(*thread, state::message, go_on);
      break;
    case role::send:
    case role::wait:
      result = wait_for(*thread, kind::point_to_point, call, partner, what, go_on);
      break;
    case role::end:
    case role::collective:
      result = wait_for(*thread, kind::collective, call, partner, what, go_on);
      if (what == role::end && thread->current != nullptr && thread->current->outer == nullptr)
        thread->end_bodies(nullptr);
      break;
  }
  is_within = false;
  return result;
}

constexpr int none = -1;  // no argument names a partner

// A rank that is an argument of C or, by its address, of Fortran. The numbers of no rank and of any are below
// 0.
int rank_in_c(long word) {
  return static_cast<int>(word);
}
int rank_in_fortran(long word) {
  return *reinterpret_cast<const int*>(word);
}

}  // namespace

}  // namespace teff::collect

using namespace teff::collect;

#define TEFF_MPI_FUNCTION(name, what, rank)                                                 \
  TEFF_INTERPOSED long name(TEFF_WORDS) {                                                   \
    TEFF_CALL(#name);                                                                       \
    return pass(call, role::what, rank, [&] { return call.go_on<long>(TEFF_SAME_WORDS); }); \
  }
#define TEFF_MPI_C(name, what, rank) \
  TEFF_MPI_FUNCTION(MPI_##name, what, rank) TEFF_MPI_FUNCTION(PMPI_##name, what, rank)
#define TEFF_MPI_RANK(name, lower, what, word)                   \
  TEFF_MPI_C(name, what, rank_in_c(word))                        \
  TEFF_MPI_FUNCTION(mpi_##lower##_, what, rank_in_fortran(word)) \
  TEFF_MPI_FUNCTION(mpi_##lower##_f08_, what, rank_in_fortran(word))
#define TEFF_MPI(name, lower, what) \
  TEFF_MPI_C(name, what, none)      \
  TEFF_MPI_FUNCTION(mpi_##lower##_, what, none) TEFF_MPI_FUNCTION(mpi_##lower##_f08_, what, none)

TEFF_MPI(Init, init, begin)
TEFF_MPI(Init_thread, init_thread, begin)
TEFF_MPI(Finalize, finalize, end)

// The argument of this place is the partner: a is the first.
TEFF_MPI_RANK(Recv, recv, wait, d)
TEFF_MPI_RANK(Sendrecv, sendrecv, wait, i)
TEFF_MPI_RANK(Sendrecv_replace, sendrecv_replace, wait, f)
TEFF_MPI_RANK(Probe, probe, wait, a)
TEFF_MPI_RANK(Mprobe, mprobe, wait, a)
TEFF_MPI_RANK(Ssend, ssend, wait, d)
TEFF_MPI_RANK(Send, send, send, d)
TEFF_MPI_RANK(Rsend, rsend, send, d)
TEFF_MPI_RANK(Bsend, bsend, send, d)
TEFF_MPI(Mrecv, mrecv, wait)
TEFF_MPI(Wait, wait, wait)
TEFF_MPI(Waitall, waitall, wait)
TEFF_MPI(Waitany, waitany, wait)
TEFF_MPI(Waitsome, waitsome, wait)
TEFF_MPI(Test, test, test)
TEFF_MPI(Testall, testall, test)
TEFF_MPI(Testany, testany, test)
TEFF_MPI(Testsome, testsome, test)
TEFF_MPI(Iprobe, iprobe, test)
TEFF_MPI(Improbe, improbe, test)
TEFF_MPI(Parrived, parrived, test)

TEFF_MPI(Isend, isend, post)
TEFF_MPI(Issend, issend, post)
TEFF_MPI(Irsend, irsend, post)
TEFF_MPI(Ibsend, ibsend, post)
TEFF_MPI(Irecv, irecv, post)
TEFF_MPI(Imrecv, imrecv, post)
TEFF_MPI(Isendrecv, isendrecv, post)
TEFF_MPI(Start, start, post)
TEFF_MPI(Startall, startall, post)
TEFF_MPI(Pready, pready, post)
TEFF_MPI(Put, put, post)
TEFF_MPI(Get, get, post)
TEFF_MPI(Accumulate, accumulate, post)
TEFF_MPI(Get_accumulate, get_accumulate, post)
TEFF_MPI(Fetch_and_op, fetch_and_op, post)
TEFF_MPI(Compare_and_swap, compare_and_swap, post)
TEFF_MPI(Rput, rput, post)
TEFF_MPI(Rget, rget, post)
TEFF_MPI(Raccumulate, raccumulate, post)

TEFF_MPI_RANK(Bcast, bcast, collective, d)
TEFF_MPI_RANK(Reduce, reduce, collective, f)
TEFF_MPI_RANK(Gather, gather, collective, g)
TEFF_MPI_RANK(Scatter, scatter, collective, g)
TEFF_MPI_RANK(Gatherv, gatherv, collective, h)
TEFF_MPI_RANK(Scatterv, scatterv, collective, h)
#define TEFF_COLLECTIVE(name, lower) \
  TEFF_MPI(name, lower, collective)  \
  TEFF_MPI(I##lower, i##lower, post)
TEFF_COLLECTIVE(Barrier, barrier)
TEFF_COLLECTIVE(Allreduce, allreduce)
TEFF_COLLECTIVE(Allgather, allgather)
TEFF_COLLECTIVE(Allgatherv, allgatherv)
TEFF_COLLECTIVE(Alltoall, alltoall)
TEFF_COLLECTIVE(Alltoallv, alltoallv)
TEFF_COLLECTIVE(Alltoallw, alltoallw)
TEFF_COLLECTIVE(Reduce_scatter, reduce_scatter)
TEFF_COLLECTIVE(Reduce_scatter_block, reduce_scatter_block)
TEFF_COLLECTIVE(Scan, scan)
TEFF_COLLECTIVE(Exscan, exscan)
TEFF_COLLECTIVE(Neighbor_allgather, neighbor_allgather)
TEFF_COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv)
TEFF_COLLECTIVE(Neighbor_alltoall, neighbor_alltoall)
TEFF_COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv)
TEFF_COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw)
TEFF_COLLECTIVE(Comm_dup, comm_dup)
TEFF_MPI(Ibcast, ibcast, post)
TEFF_MPI(Ireduce, ireduce, post)
TEFF_MPI(Igather, igather, post)
TEFF_MPI(Igatherv, igatherv, post)
TEFF_MPI(Iscatter, iscatter, post)
TEFF_MPI(Iscatterv, iscatterv, post)
TEFF_MPI(Comm_split, comm_split, collective)
TEFF_MPI(Comm_create, comm_create, collective)
TEFF_MPI(Win_fence, win_fence, collective)
TEFF_MPI(Win_start, win_start, wait)
TEFF_MPI(Win_complete, win_complete, wait)
TEFF_MPI(Win_wait, win_wait, wait)
TEFF_MPI(Win_lock, win_lock, wait)
TEFF_MPI(Win_unlock, win_unlock, wait)
TEFF_MPI(Win_unlock_all, win_unlock_all, wait)
TEFF_MPI(Win_flush, win_flush, wait)
TEFF_MPI(Win_flush_all, win_flush_all, wait)
TEFF_MPI(File_read_all, file_read_all, collective)
TEFF_MPI(File_write_all, file_write_all, collective)
TEFF_MPI(File_read_at_all, file_read_at_all, collective)
TEFF_MPI(File_write_at_all, file_write_at_all, collective)
