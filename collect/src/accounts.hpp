// The file of a process's accounts, as readers map it: a header, then blocks. README.md describes each
// member. All times are in ticks of the clock that the header names. A change of any of these types is a
// change of `version`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace teff::collect {

inline constexpr std::uint32_t version = 4;

// What a thread does. At each moment a thread is in exactly one state.
enum class state : std::uint32_t {
  absent,          // the block belongs to no thread at present
  serial,          // outside of parallel regions
  body,            // in the program's own code within a region
  counted,         // bodies too short for the clock, and what the runtime does between them
  creation,        // makes a task
  dispatch,        // takes the next chunk, or looks for a task that is already made
  imbalance,       // at a barrier, with no task left to run
  task_not_made,   // waits; the task that ended the wait was not made yet
  task_not_begun,  // waits; the task that ended the wait was made meanwhile
  dependences,     // waits for tasks that other threads run, or in turn for an ordered part
  message,         // waits for a message
  lock,            // waits for a lock or a critical section
  runtime,         // begins or ends a region
  start,           // likewise, and the thread itself is created within
  wait,            // waits, and nobody says for what: only the sampler finds this
  displaced,       // could run, and has no core: another program or thread has it
  count
};

// A body is a part of a place of this kind. The last three are no bodies: a message's waits, samples.
enum class kind : std::uint32_t {
  others,
  region,
  share,
  chunk,
  section,
  single,
  task,
  dependent,  // a task with dependences
  taskloop,
  between_waits,  // what a thread runs from one waiting call to the next
  point_to_point,
  collective,
  sample,
  count
};

inline constexpr std::size_t bins_per_octave = 4;
inline constexpr std::size_t first_octave = 4;  // bin 0 is of all lengths below 2^4 ticks * 5/4
inline constexpr std::size_t bins = 156;

// A thread's account of the bodies of one place in the program.
struct site {
  std::uint64_t address;    // 1 beyond a byte of the code, as a return address is. The others have 0
  std::uint32_t module;     // the index in header::modules of the module that has the address
  std::uint32_t runtime;    // the index of the module of the runtime
  std::uint32_t what;       // a kind
  std::uint32_t too_short;  // 1: the collector counts its bodies, and times few of them
  std::uint64_t count;      // the number of bodies that ended
  std::uint64_t timed;      // the number of bodies that were timed: all, unless they are too short
  std::uint64_t segments;   // the pieces of time in which bodies ran: each is longer by header::own
  std::uint64_t time;       // the time of the bodies, without what is nested in them
  std::uint64_t longest;    // the longest body that was timed
  std::uint64_t recent;     // the time of the last timed bodies, which decide about the next bodies
  std::uint32_t recently;   // the number of these last bodies
  std::uint32_t turn;       // counts short bodies up to the next timed body
  std::uint64_t ahead;      // of waits: how much longer they were for `partner` than for all others
  std::uint32_t partner;    // 1 + the rank that the longest ones are for; 0 if none is known
  std::uint32_t function;   // of tasks: the low half of the address of their function; 0 if it is not known
  // How many bodies had which length. If few are timed: estimated, as segments and time.
  std::array<std::uint64_t, bins> lengths;
};

// A segment of a thread's time, for a timeline. It begins where the segment before it ends.
struct segment {
  std::uint64_t until;
  std::uint64_t address;  // of the site whose body the thread was in; 0 in no body
  std::uint32_t function;
  std::uint16_t what;  // a kind
  std::uint16_t did;   // a state
};

// A thread has one block, and one more whenever it meets more sites. Only the first keeps the thread's
// states. A thread that begins takes the blocks of a thread that has ended, and adds to them.
struct block {
  std::uint32_t seat;     // 1, 2, ..; 0 if no thread ever had this block
  std::uint32_t part;     // 0 of a seat's first block
  std::uint32_t thread;   // as the system numbers threads: of the present or last one
  std::uint32_t threads;  // that had this seat one after the other
  std::uint32_t now;      // a state
  std::uint32_t sites_used;
  std::uint64_t since;                  // when that state began; times[now] lacks the time from then on
  std::uint64_t regions;                // that the thread was part of
  std::array<std::uint64_t, 16> times;  // by state
  std::uint64_t segments_noted;  // in its file of segments: number n is at n modulo the size of the file
  std::uint64_t open;            // the address of the site whose body goes on, around all others; 0: none
  std::uint64_t delayed;         // in no state: waits for threads that had no core
  std::uint32_t open_what;       // the kind of `open`
  std::array<std::uint32_t, 15> reserved;
  std::array<site, 12> sites;  // the first site of part 0 is of the others
};

struct module {
  std::uint64_t begin;  // the address to which the file's address 0 is loaded
  std::uint64_t end;
  std::array<char, 496> path;
};

struct moment {
  std::uint64_t ticks;
  std::uint64_t nanoseconds;  // CLOCK_MONOTONIC at that tick
};

struct header {
  std::array<char, 8> magic;  // "teffacct"
  std::uint32_t version;
  std::uint32_t processors;  // that the process may use
  std::uint32_t process;
  std::uint32_t parent;
  std::uint32_t modules_used;
  std::uint32_t seats;         // that threads have or had
  std::uint32_t lost_threads;  // for which the file could not grow: nothing is known of them
  std::uint32_t clock_reads_tsc;
  std::uint64_t own;        // the collector's part of a segment, in ticks
  std::uint64_t started;    // when the collector was loaded
  std::uint64_t ended;      // 0 if the process ended without running its exit handlers
  std::uint64_t real_time;  // nanoseconds since 1970 when the file was made
  std::uint64_t displaced;  // nanoseconds of the main thread outside of regions, without a core
  moment first, last;       // last: renewed once a millisecond at most, when a region ends
  std::array<std::array<char, 16>, 16> states;
  std::array<std::array<char, 16>, 16> kinds;
  std::uint32_t rank;  // 1 + the process's rank; 0 if it has none
  std::array<char, 3468> reserved;
  std::array<module, 120> modules;  // the last one is of all addresses of further modules
};

static_assert(sizeof(segment) == 24 && sizeof(site) == 1344 && sizeof(block) == 16384 &&
              sizeof(module) == 512);
static_assert(sizeof(header) == 65536 && offsetof(header, modules) == 4096);

}  // namespace teff::collect
