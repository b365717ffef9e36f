#pragma once

#include <cstdint>
#include <vector>

namespace teff::programs {

struct patient {
  std::uint64_t draws;  ///< of the patient's random numbers
  std::int32_t left;    ///< steps of the examination or treatment
  std::int32_t waited;  ///< steps
};

/// A hospital and the people of its village.
struct hospital {
  hospital() = default;
  hospital(std::uint64_t village, int height) : number(village), level(height) {}

  [[nodiscard]] std::int64_t ill() const {
    return static_cast<std::int64_t>(waiting.size() + examined.size() + inside.size() + sent_on.size());
  }

  std::uint64_t number = 0;
  int level = 1;  ///< 1: no village lies below; the higher, the larger
  std::int64_t steps = 0;
  std::int64_t fell_ill = 0;
  std::int64_t treated = 0;
  std::int64_t waited = 0;  ///< steps, of the treated patients
  std::vector<patient> waiting;
  std::vector<patient> examined;
  std::vector<patient> inside;
  std::vector<patient> sent_on;  ///< to the hospital above
};

/// Runs one step of time.
void step(hospital& in);
/// Takes up the patients that the hospital below has sent on.
void take_up(hospital& above, hospital& below);

}  // namespace teff::programs
