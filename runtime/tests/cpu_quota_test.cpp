#include "platform/cpu_quota.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

using files = std::vector<std::pair<std::string, std::string>>;

// The quota of a system that has only these files, each by its path.
double quota_with(const files& all) {
  const std::string root =
      testing::TempDir() + "cpu_quota_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove_all(root);
  for (const auto& [path, text] : all) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text << '\n';
  }
  const double quota = detail::cpu_quota(root);
  std::filesystem::remove_all(root);
  return quota;
}

TEST(cpu_quota, of_version_2_is_the_tightest_of_the_group_and_its_parents) {
  EXPECT_EQ(quota_with({{"/proc/self/cgroup", "0::/pod/one"},
                        {"/sys/fs/cgroup/pod/one/cpu.max", "300000 100000"},
                        {"/sys/fs/cgroup/pod/cpu.max", "150000 100000"},
                        {"/sys/fs/cgroup/cpu.max", "max 100000"}}),
            1.5);
}

TEST(cpu_quota, of_version_2_at_the_root_of_a_namespace_is_read) {
  EXPECT_EQ(quota_with({{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpu.max", "50000 100000"}}), 0.5);
}

TEST(cpu_quota, of_version_1_is_the_limit_of_the_cpu_controller) {
  EXPECT_EQ(quota_with({{"/proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/pod\n3:cpuset:/other"},
                        {"/sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "1000"},
                        {"/sys/fs/cgroup/cpu/other/cpu.cfs_period_us", "100000"},
                        {"/sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us", "300000"},
                        {"/sys/fs/cgroup/cpu/pod/cpu.cfs_period_us", "100000"},
                        {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"},
                        {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}}),
            3);
}

TEST(cpu_quota, is_none_without_a_limit_or_without_its_file) {
  EXPECT_EQ(quota_with({}), 0);
  EXPECT_EQ(quota_with({{"/proc/self/cgroup", "0::/pod"}}), 0);
  EXPECT_EQ(quota_with({{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpu.max", "max 100000"}}), 0);
  EXPECT_EQ(quota_with({{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpu.max", "100000 0"}}), 0);
  EXPECT_EQ(quota_with({{"/proc/self/cgroup", "no lines"}, {"/sys/fs/cgroup/cpu.max", "1 1"}}), 0);
}

}  // namespace
}  // namespace teff::test
