#include "catalogue.hpp"

namespace teff::apps {

std::span<const description> apps_over_ways() {
  static const description all[] = {hpccg::describe(), lulesh::describe(), sssp::describe(), hpcg::describe(),
                                    leanmd::describe()};
  return all;
}

}  // namespace teff::apps
