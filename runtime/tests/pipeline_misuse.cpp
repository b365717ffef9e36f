// Pipelines that can't be (misuse.sh).
#include <teff/pipeline.hpp>

#include <optional>
#include <string>

using teff::parallel, teff::parallel_pipeline, teff::serial;
const auto source = serial([]() -> std::optional<int> { return std::nullopt; });
const auto sink = serial([](int) {});

void right() {
  parallel_pipeline(1, source, sink);
}

#ifdef MISUSE
void misuse(int& somewhere) {
  // error: can't be called with what the stage before it returns
  parallel_pipeline(1, source, parallel([](const std::string&) { return 1; }), sink);
  // error: must be callable as const
  parallel_pipeline(1, source, parallel([n = 0](int) mutable { return ++n; }), sink);
  parallel_pipeline(1, source, serial([](int i) { return i; }));  // error: the last stage returns something
  parallel_pipeline(1, source, serial([](int) {}), sink);  // error: only the last stage may return void
  // error: returns a reference
  parallel_pipeline(1, source, serial([&](int) -> int& { return somewhere; }), sink);
  parallel_pipeline(1, source, [](int) {});  // error: pass each stage as teff::serial
  parallel_pipeline(1, source);              // error: two stages at least
  // error: the first stage makes the tokens one after the other
  parallel_pipeline(1, parallel([]() -> std::optional<int> { return 1; }), sink);
  parallel_pipeline(1, serial([] { return 1; }), sink);  // error: returns a std::optional
}
#endif
