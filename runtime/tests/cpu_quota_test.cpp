#include "cpu_quota.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

using files = std::vector<std::pair<std::string, std::string>>;

// Files by their paths, as if they were all that "/" has.
class made_up_files {
 public:
  explicit made_up_files(const files& all)
      : root_(testing::TempDir() + "cpu_quota_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
    for (const auto& [path, text] : all) {
      std::filesystem::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
      std::ofstream(root_ + path) << text << '\n';
    }
  }
  ~made_up_files() { std::filesystem::remove_all(root_); }
  made_up_files(const made_up_files&) = delete;
  made_up_files& operator=(const made_up_files&) = delete;

  [[nodiscard]] double quota() const { return detail::cpu_quota(root_); }

 private:
  std::string root_;
};

TEST(cpu_quota, of_version_2_is_the_tightest_of_the_group_and_those_around_it) {
  EXPECT_EQ(made_up_files({{"/proc/self/cgroup", "0::/pod/one"},
                           {"/sys/fs/cgroup/pod/one/cpu.max", "max 100000"},
                           {"/sys/fs/cgroup/pod/cpu.max", "150000 100000"},
                           {"/sys/fs/cgroup/cpu.max", "400000 100000"}})
                .quota(),
            1.5);
}

TEST(cpu_quota, of_version_2_at_the_root_of_a_namespace_is_read) {
  EXPECT_EQ(
      made_up_files({{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpu.max", "50000 100000"}}).quota(),
      0.5);
}

TEST(cpu_quota, of_version_1_is_that_of_the_cpu_controller) {
  EXPECT_EQ(made_up_files({{"/proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/pod\n3:cpuset:/other"},
                           {"/sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "1000"},
                           {"/sys/fs/cgroup/cpu/other/cpu.cfs_period_us", "100000"},
                           {"/sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us", "300000"},
                           {"/sys/fs/cgroup/cpu/pod/cpu.cfs_period_us", "100000"},
                           {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"},
                           {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}})
                .quota(),
            3);
}

TEST(cpu_quota, is_none_without_a_limit_or_without_a_file_that_says_one) {
  EXPECT_EQ(made_up_files(files{}).quota(), 0);
  EXPECT_EQ(made_up_files({{"/proc/self/cgroup", "0::/pod"}}).quota(), 0);
  EXPECT_EQ(made_up_files({{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpu.max", "max 100000"}}).quota(),
            0);
  EXPECT_EQ(made_up_files({{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpu.max", "100000 0"}}).quota(),
            0);
  EXPECT_EQ(made_up_files({{"/proc/self/cgroup", "no lines"}, {"/sys/fs/cgroup/cpu.max", "1 1"}}).quota(), 0);
}

}  // namespace
}  // namespace teff::test
