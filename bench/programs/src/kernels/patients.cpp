#include "teff/programs/kernels/patients.hpp"

#include <cstddef>
#include <utility>

#include "teff/programs/data.hpp"

namespace teff::programs {
namespace {

constexpr std::int64_t people = 20;  // of a village, a level
constexpr std::uint64_t ill_in = 500;
constexpr std::int32_t steps_of_examination = 3;
constexpr std::int32_t steps_of_treatment = 10;
constexpr int highest = 5;

std::uint64_t draw(patient& who) {
  return mixed(who.draws++);
}

// Keeps the patients for which `stays` returns true, in their order.
template <class Stays>
void keep(std::vector<patient>& all, Stays stays) {
  std::size_t kept = 0;
  for (patient& each : all)
    if (stays(each)) all[kept++] = each;
  all.resize(kept);
}

std::size_t beds(const hospital& in) {
  return std::size_t{2} << in.level;
}

void treat(hospital& in) {
  keep(in.inside, [&in](patient& each) {
    if (--each.left > 0) return true;
    ++in.treated;
    in.waited += each.waited;
    return false;
  });
}

void examine(hospital& in) {
  keep(in.examined, [&in](patient& each) {
    if (--each.left > 0) return true;
    const std::uint64_t severe = draw(each) % 100;
    if (severe < 60 || in.level == highest) {
      each.left = steps_of_treatment;
      in.inside.push_back(each);
    } else {
      in.sent_on.push_back(each);
    }
    return false;
  });
}

void admit(hospital& in) {
  keep(in.waiting, [&in](patient& each) {
    if (in.inside.size() + in.examined.size() >= beds(in)) {
      ++each.waited;
      return true;
    }
    each.left = steps_of_examination;
    in.examined.push_back(each);
    return false;
  });
}

void fall_ill(hospital& in) {
  for (std::int64_t each = 0; each < people * in.level; ++each) {
    const std::uint64_t seed =
        (in.number << 40) + (static_cast<std::uint64_t>(in.steps) << 16) + static_cast<std::uint64_t>(each);
    if (mixed(seed) % ill_in != 0) continue;
    in.waiting.push_back({mixed(~seed), 0, 0});
    ++in.fell_ill;
  }
}

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void step(hospital& in) {
  treat(in);
  examine(in);
  admit(in);
  fall_ill(in);
  ++in.steps;
}

[[gnu::noinline, gnu::aligned(64)]] void take_up(hospital& above, hospital& below) {
  above.waiting.insert(above.waiting.end(), below.sent_on.begin(), below.sent_on.end());
  below.sent_on.clear();
}

}  // namespace teff::programs
