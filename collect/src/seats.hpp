// All seats: which thread has which, and what is known of all.
#pragma once

#include <cstdint>

#include "seat.hpp"

namespace teff::collect {

// Gives the thread a seat if it has none; null if nothing can be kept of it.
seat* here();

// The sampler keeps all accounts: here() gives no thread a seat, and seat_of() gives one for another thread.
extern bool only_samples;
seat* seat_of(std::uint32_t thread);

// Gives the seat of a thread that ended to the next one.
void vacate(seat& left, std::uint64_t now);

seat* first_seat();  // of all, by `next`

// How long the thread that calls could have run and had no core (README.md: displaced threads); 0 if the
// system does not say it.
std::uint64_t nanoseconds_without_core();
std::uint64_t ticks_of(std::uint64_t nanoseconds);

// The latest of all threads' last_end.
std::uint64_t last_end_anywhere();

// Whether a wait is so long that all threads are looked at: that takes a cache miss a thread.
bool is_long(std::uint64_t wait);

}  // namespace teff::collect
