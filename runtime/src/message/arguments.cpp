#include <teff/detail/message/argument_bytes.hpp>
#include <teff/error.hpp>

#include <string>

namespace teff::detail {

void byte_reader::refuse(const char* what) {
  throw malformed_message(std::string("teff: the arguments of a message ") + what);
}

}  // namespace teff::detail
