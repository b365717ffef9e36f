#include "catalogue.hpp"

namespace teff::apps {

std::span<const description> apps_over_ways() {
  static const description all[] = {hpccg::describe()};
  return all;
}

}  // namespace teff::apps
