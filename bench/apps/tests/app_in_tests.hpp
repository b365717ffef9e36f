#pragma once

#include <memory>
#include <string>

#include "teff/apps/work.hpp"
#include "teff/bench/flags.hpp"
#include "ways_in_tests.hpp"

namespace teff::apps {

/// Of the flags of a run: "-app hpccg -grid 3x3x3".
inline description::maker maker_of(const std::string& line) {
  return parse_work(bench::words_of(line)).make;
}

/// A run in some way, which calls check.
inline finding result_of(app& of, way& by) {
  of.reset();
  of.run(by);
  in_order calls;
  return of.check(calls);
}
/// A run by calls.
inline finding result_of(const std::string& line) {
  in_order calls;
  return result_of(*maker_of(line)({}), calls);
}

}  // namespace teff::apps
