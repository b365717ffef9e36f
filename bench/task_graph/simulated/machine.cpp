#include "machine.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "teff/bench/failure.hpp"

namespace teff::simulated {
namespace {

using json = nlohmann::json;

/// Takes the values of an object by their names, and refuses what is left.
class reader {
 public:
  explicit reader(json object) : object_(std::move(object)) {}

  /// Returns whether it is there.
  template <class Value>
  bool take(const char* name, Value& into) {
    if (!object_.contains(name)) return false;
    into = object_[name].get<Value>();
    object_.erase(name);
    return true;
  }
  [[nodiscard]] std::vector<json> list(const char* name) {
    std::vector<json> found;
    take(name, found);
    return found;
  }
  void end() const {
    if (!object_.empty())
      throw bench::usage_error(fmt::format("a simulated machine has no '{}'", object_.begin().key()));
  }

 private:
  json object_;
};

level read_level(json object) {
  level one;
  reader from(std::move(object));
  from.take("nodes", one.nodes);
  from.take("latency", one.latency);
  from.take("byte", one.byte);
  from.take("gap", one.gap);
  from.take("shared_byte", one.shared_byte);
  from.end();
  return one;
}

/// Of detours or late messages: how often, and how long.
template <class Kind>
Kind read_kind(json object, const char* often, double Kind::* how_often) {
  Kind one;
  reader from(std::move(object));
  from.take(often, one.*how_often);
  from.take("length", one.length);
  from.end();
  return one;
}

}  // namespace

machine read_machine(const std::string& text) try {
  machine one;
  reader from(json::parse(text));
  from.take("name", one.name);
  from.take("system", one.system);
  from.take("cores", one.cores);
  from.take("flop", one.flop);
  from.take("byte", one.byte);
  from.take("task", one.task);
  from.take("dependence", one.dependence);
  from.take("message", one.message);
  from.take("message_byte", one.message_byte);
  from.take("jitter", one.jitter);
  from.take("is_peak", one.is_peak);
  if (const std::vector<json> levels = from.list("levels"); !levels.empty()) {
    one.levels.clear();
    for (const json& each : levels) one.levels.push_back(read_level(each));
  }
  for (const json& each : from.list("detours")) one.noise.push_back(read_kind(each, "rate", &detours::rate));
  json late = json::object();
  from.take("late", late);
  one.late = read_kind(std::move(late), "share", &lateness::share);
  std::uint64_t seed = 0;
  if (from.take("seed", seed)) one.seed = seed;
  from.end();
  return one;
} catch (const json::exception& failure) {
  throw bench::usage_error(fmt::format("a simulated machine is an object of JSON: {}", failure.what()));
}

}  // namespace teff::simulated
