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
  thread.note_open();
  thread.enter(state::body);
}

// The outermost call of MPI.
template <class GoOn>
long account_call(seat& thread, const incoming_call& call, GoOn go_on, role what, int partner) {
  const state before = thread.doing();
  const bool is_collective = what == role::collective || what == role::end;
  const bool waits = is_collective || what == role::wait;
  const bool is_between = thread.current != nullptr && thread.current->what == kind::between_waits;
  const bool begins_body = thread.current == nullptr ? waits || what == role::begin : waits && is_between;
  thread.enter(what == role::begin                        ? state::start
               : what == role::post || what == role::send ? state::creation
                                                          : state::message);
  const auto begin = thread.since();
  if (waits && is_between && what != role::end) thread.account(*thread.current);
  const long result = go_on();
  const auto now = ticks();
  if (waits || (what == role::send && now - begin > long_send)) {
    thread.label(state::message);
    const kind why = is_collective ? kind::collective : kind::point_to_point;
    thread.account_wait(why, call.caller, now - begin, partner);
  }
  if (what == role::begin) thread.take_part();
  if (what == role::end) {
    thread.enter(state::serial, now);
    if (thread.current != nullptr && thread.current->outer == nullptr) thread.end_bodies(nullptr);
  } else if (begins_body) {
    begin_between(thread, call);
  } else {
    thread.enter(before, now);
  }
  return result;
}

template <class GoOn>
long pass(const incoming_call& call, GoOn go_on, role what, int partner) {
  seat* const thread = is_within ? nullptr : here();
  if (thread == nullptr) return go_on();
  is_within = true;
  const long result = account_call(*thread, call, go_on, what, partner);
  is_within = false;
  return result;
}

constexpr long none = -1;  // no argument names a partner

// A rank that is an argument of C or, by its address, of Fortran. The numbers of no rank and of any are below
// 0.
int rank_in_c(long word) {
  return static_cast<int>(word);
}
int rank_in_fortran(long word) {
  return word == none ? -1 : *reinterpret_cast<const int*>(word);
}

}  // namespace

}  // namespace teff::collect

using namespace teff::collect;

// The argument of the place `word` is the partner: a is the first.
#define TEFF_MPI(name, lower, what, word)                                          \
  TEFF_STAND_BEFORE(MPI_##name, long, pass, role::what, rank_in_c(word))           \
  TEFF_STAND_BEFORE(PMPI_##name, long, pass, role::what, rank_in_c(word))          \
  TEFF_STAND_BEFORE(mpi_##lower##_, long, pass, role::what, rank_in_fortran(word)) \
  TEFF_STAND_BEFORE(mpi_##lower##_f08_, long, pass, role::what, rank_in_fortran(word))
// And the function that only begins it.
#define TEFF_MPI_BOTH(name, lower, what, word) \
  TEFF_MPI(name, lower, what, word) TEFF_MPI(I##lower, i##lower, post, none)

TEFF_MPI(Init, init, begin, none)
TEFF_MPI(Init_thread, init_thread, begin, none)
TEFF_MPI(Finalize, finalize, end, none)

TEFF_MPI_BOTH(Recv, recv, wait, d)
TEFF_MPI_BOTH(Sendrecv, sendrecv, wait, i)
TEFF_MPI(Sendrecv_replace, sendrecv_replace, wait, f)
TEFF_MPI(Probe, probe, wait, a)
TEFF_MPI(Mprobe, mprobe, wait, a)
TEFF_MPI_BOTH(Ssend, ssend, wait, d)
TEFF_MPI_BOTH(Send, send, send, d)
TEFF_MPI_BOTH(Rsend, rsend, send, d)
TEFF_MPI_BOTH(Bsend, bsend, send, d)
TEFF_MPI_BOTH(Mrecv, mrecv, wait, none)
TEFF_MPI(Wait, wait, wait, none)
TEFF_MPI(Waitall, waitall, wait, none)
TEFF_MPI(Waitany, waitany, wait, none)
TEFF_MPI(Waitsome, waitsome, wait, none)
TEFF_MPI(Test, test, test, none)
TEFF_MPI(Testall, testall, test, none)
TEFF_MPI(Testany, testany, test, none)
TEFF_MPI(Testsome, testsome, test, none)
TEFF_MPI(Iprobe, iprobe, test, none)
TEFF_MPI(Improbe, improbe, test, none)
TEFF_MPI(Parrived, parrived, test, none)

TEFF_MPI(Start, start, post, none)
TEFF_MPI(Startall, startall, post, none)
TEFF_MPI(Pready, pready, post, none)
TEFF_MPI(Put, put, post, none)
TEFF_MPI(Get, get, post, none)
TEFF_MPI(Accumulate, accumulate, post, none)
TEFF_MPI(Get_accumulate, get_accumulate, post, none)
TEFF_MPI(Fetch_and_op, fetch_and_op, post, none)
TEFF_MPI(Compare_and_swap, compare_and_swap, post, none)
TEFF_MPI(Rput, rput, post, none)
TEFF_MPI(Rget, rget, post, none)
TEFF_MPI(Raccumulate, raccumulate, post, none)

TEFF_MPI_BOTH(Bcast, bcast, collective, d)
TEFF_MPI_BOTH(Reduce, reduce, collective, f)
TEFF_MPI_BOTH(Gather, gather, collective, g)
TEFF_MPI_BOTH(Scatter, scatter, collective, g)
TEFF_MPI_BOTH(Gatherv, gatherv, collective, h)
TEFF_MPI_BOTH(Scatterv, scatterv, collective, h)
TEFF_MPI_BOTH(Barrier, barrier, collective, none)
TEFF_MPI_BOTH(Allreduce, allreduce, collective, none)
TEFF_MPI_BOTH(Allgather, allgather, collective, none)
TEFF_MPI_BOTH(Allgatherv, allgatherv, collective, none)
TEFF_MPI_BOTH(Alltoall, alltoall, collective, none)
TEFF_MPI_BOTH(Alltoallv, alltoallv, collective, none)
TEFF_MPI_BOTH(Alltoallw, alltoallw, collective, none)
TEFF_MPI_BOTH(Reduce_scatter, reduce_scatter, collective, none)
TEFF_MPI_BOTH(Reduce_scatter_block, reduce_scatter_block, collective, none)
TEFF_MPI_BOTH(Scan, scan, collective, none)
TEFF_MPI_BOTH(Exscan, exscan, collective, none)
TEFF_MPI_BOTH(Neighbor_allgather, neighbor_allgather, collective, none)
TEFF_MPI_BOTH(Neighbor_allgatherv, neighbor_allgatherv, collective, none)
TEFF_MPI_BOTH(Neighbor_alltoall, neighbor_alltoall, collective, none)
TEFF_MPI_BOTH(Neighbor_alltoallv, neighbor_alltoallv, collective, none)
TEFF_MPI_BOTH(Neighbor_alltoallw, neighbor_alltoallw, collective, none)
TEFF_MPI(Comm_dup, comm_dup, collective, none)
TEFF_MPI(Comm_idup, comm_idup, post, none)
TEFF_MPI(Comm_split, comm_split, collective, none)
TEFF_MPI(Comm_create, comm_create, collective, none)
TEFF_MPI(Win_fence, win_fence, collective, none)
TEFF_MPI(Win_start, win_start, wait, none)
TEFF_MPI(Win_complete, win_complete, wait, none)
TEFF_MPI(Win_wait, win_wait, wait, none)
TEFF_MPI(Win_lock, win_lock, wait, none)
TEFF_MPI(Win_unlock, win_unlock, wait, none)
TEFF_MPI(Win_unlock_all, win_unlock_all, wait, none)
TEFF_MPI(Win_flush, win_flush, wait, none)
TEFF_MPI(Win_flush_all, win_flush_all, wait, none)
TEFF_MPI(File_read_all, file_read_all, collective, none)
TEFF_MPI(File_write_all, file_write_all, collective, none)
TEFF_MPI(File_read_at_all, file_read_at_all, collective, none)
TEFF_MPI(File_write_at_all, file_write_at_all, collective, none)
