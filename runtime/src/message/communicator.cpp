#include <teff/error.hpp>
#include <teff/message.hpp>

#include "message/message_source.hpp"
#include "trace/trace.hpp"

#include <string>

namespace teff {

namespace detail {

std::string type_words(const char* spelling) {
  return std::string(type_in(spelling));
}

void byte_reader::refuse(const char* what) {
  throw malformed_message(std::string("teff: the arguments of a message ") + what);
}

void refuse_landing(std::size_t expected, std::size_t landed) {
  throw wrong_landing("teff: large data of " + std::to_string(expected) +
                      " elements were to land in memory for " + std::to_string(landed));
}

}  // namespace detail

namespace {

std::size_t window_of(const communicator_options& how) {
  if (how.window == 0)
    throw invalid_option("teff::communicator: a window of 0 bytes has no room for a message; 1 at least");
  return how.window;
}

}  // namespace

communicator::communicator(runtime& rt, transport& through, const communicator_options& how)
    : communicator(rt, through, how, "communicator") {}

communicator::communicator(runtime& rt, transport& through, const communicator_options& how,
                           const std::string& kind)
    : runtime_(rt),
      transport_(through),
      source_(std::make_shared<detail::message_source>(rt, through, window_of(how), kind)) {
  detail::attach(detail::private_access::internals(rt), source_);
  detail::published(detail::private_access::internals(rt));  // it may ask to be polled, or listened to
}

communicator::~communicator() {
  source_->leave("teff::communicator");
  detail::detach(detail::private_access::internals(runtime_), *source_);
}

int communicator::rank() const noexcept {
  return source_->core().rank();
}

int communicator::ranks() const noexcept {
  return source_->core().ranks();
}

std::size_t communicator::window() const noexcept {
  return source_->core().window();
}

bool communicator::cancelled() const noexcept {
  return source_->core().cancelled();
}

message_counters communicator::counters() const {
  return source_->core().counters();
}

communicator::held::held(std::shared_ptr<detail::message_source> source) noexcept
    : source_(std::move(source)) {
  source_->core().hold();
}

communicator::held::~held() {
  if (source_) source_->core().end_hold();
}

}  // namespace teff
