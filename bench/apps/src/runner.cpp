#include "runner.hpp"

#include <exception>
#include <string_view>

#include "teff/bench/failure.hpp"

namespace teff::apps {

std::optional<way_kind> take_way(int& argc, char**& argv) {
  if (argc <= 2 || std::string_view(argv[1]) != "--way") return {};
  const way_kind only = way_named(argv[2]);
  argv[2] = argv[0];
  argv += 2;
  argc -= 2;
  return only;
}

void runner::prepare(const bench::flags& of_run) {
  if (loaded_ && of_run == flags_) {
    loaded_->reset();
    return;
  }
  loaded_.reset();  // of two, both may not fit
  lacks_.clear();
  try {
    loaded_ = load(parse_work(of_run), *system_, *company_, only_);
    flags_ = of_run;
  } catch (const lack& missing) {
    lacks_ = missing.what();
  }
}

bench::answer runner::run() {
  if (!lacks_.empty()) return {.said = {.who = describe(), .error = lacks_, .lacks = true}};
  try {
    bench::record said{.who = describe()};
    loaded_->run(said);
    return {.said = std::move(said)};
  } catch (const lack& missing) {
    return {.said = {.who = describe(), .error = missing.what(), .lacks = true}};
  } catch (const std::exception& failure) {
    if (company_->size() > 1) company_->protocol().give_up(bench::reason_of(failure));  // others wait for it
    return {.said = {.who = describe(), .error = bench::reason_of(failure)}};
  }
}

}  // namespace teff::apps
