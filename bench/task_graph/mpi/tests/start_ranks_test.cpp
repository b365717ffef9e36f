// How ranks are started, in the words of each kind of launcher, and with which code that ends.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace {

struct answer {
  std::string words;  ///< those that the launcher was given
  int code;
};

answer start(const std::string& kind, const std::string& arguments, const std::string& variables = "") {
  FILE* const pipe = popen((variables + " " TEFF_START_RANKS_OF + kind + ' ' + arguments).c_str(), "r");
  answer got{};
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) got.words += static_cast<char>(c);
  got.code = WEXITSTATUS(pclose(pipe));
  return got;
}

TEST(start_ranks, gives_each_rank_a_core_of_its_own_in_the_launchers_words) {
  EXPECT_EQ(start("open_mpi", "core 3 program 'two words' 0").words,
            "[--allow-run-as-root][-n][3][--map-by][core:OVERSUBSCRIBE]"
            "[--bind-to][core:overload-allowed][setpriv][--pdeathsig][KILL][program][two words][0]");
  EXPECT_EQ(start("hydra", "core 3 program 'two words' 0").words,
            "[-n][3][-bind-to][core][setpriv][--pdeathsig][KILL][program][two words][0]");
}

TEST(start_ranks, gives_each_rank_its_share_of_the_workers_cores) {
  EXPECT_EQ(start("open_mpi", "cores 2 5 program 0").words,
            "[--allow-run-as-root][--oversubscribe][-n][2][--map-by][slot:PE=2]"
            "[--bind-to][core:overload-allowed][setpriv][--pdeathsig][KILL][program][0]");
  EXPECT_EQ(start("hydra", "cores 2 5 program 0").words,
            "[-n][2][-bind-to][core:2][setpriv][--pdeathsig][KILL][program][0]");
  for (const char* const kind : {"open_mpi", "hydra"})
    for (const char* const workers : {"1", "3", "5"})
      EXPECT_EQ(start(kind, std::string("cores 3 ") + workers + " program 0").words,
                start(kind, "core 3 program 0").words);
}

TEST(start_ranks, gives_a_rank_a_whole_node_in_the_launchers_words) {
  EXPECT_EQ(start("open_mpi", "node program 0").words,
            "[--allow-run-as-root][--map-by][ppr:1:node][--bind-to][none][program][0]");
  EXPECT_EQ(start("hydra", "node program 0").words, "[-ppn][1][-bind-to][none][program][0]");
}

TEST(start_ranks, gives_each_host_as_many_ranks_in_the_launchers_words) {
  const std::string hosts = "TEFF_HOSTS=a,b";
  EXPECT_EQ(
      start("open_mpi", "cores 3 6 program 0", hosts).words,
      "[--allow-run-as-root][--oversubscribe][-n][3][--map-by][slot:PE=2][--bind-to]"
      "[core:overload-allowed][--host][a:2,b:2][-x][TEFF_RANKS][setpriv][--pdeathsig][KILL][program][0]");
  EXPECT_EQ(start("hydra", "core 2 program 0", hosts).words,
            "[-n][2][-bind-to][core][-hosts][a:1,b:1][setpriv][--pdeathsig][KILL][program][0]");
}

TEST(start_ranks, speaks_to_slurm_where_the_user_wants_srun) {
  const std::string srun = "SLURM_JOB_NUM_NODES= TEFF_LAUNCHER='" TEFF_SRUN " --mpi=pmix'";
  EXPECT_EQ(start("open_mpi", "cores 2 6 program 0", srun + " TEFF_HOSTS=a,b").words,
            "[--mpi=pmix][--overlap][-n][2][--overcommit][--cpus-per-task=3][--cpu-bind=cores]"
            "[--nodes=2][--ntasks-per-node=1][--nodelist=a,b][setpriv][--pdeathsig][KILL][program][0]");
  EXPECT_EQ(start("hydra", "node program 0", srun).words,
            "[--mpi=pmix][--overlap][-n][1][--ntasks-per-node=1][--cpu-bind=none][program][0]");
}

TEST(start_ranks, starts_a_rank_on_each_node_of_slurms_allocation) {
  const std::string srun = "TEFF_LAUNCHER=" TEFF_SRUN " SLURM_NTASKS=8 SLURM_JOB_NUM_NODES=4";
  EXPECT_EQ(start("open_mpi", "node program 0", srun).words,
            "[--overlap][-n][4][--ntasks-per-node=1][--cpu-bind=none][program][0]");
  EXPECT_EQ(
      start("open_mpi", "node program 0", srun + " TEFF_HOSTS=a,b,c").words,
      "[--overlap][-n][3][--ntasks-per-node=1][--cpu-bind=none][--nodes=3][--nodelist=a,b,c][program][0]");
}

TEST(start_ranks, starts_ranks_on_so_many_nodes_in_the_launchers_words) {
  const std::string two = "TEFF_NODES=2";
  EXPECT_EQ(start("open_mpi", "core 4 program 0", two + " TEFF_HOSTS=a,b,c TEFF_VARIABLES='ONE TWO'").words,
            "[--allow-run-as-root][-n][4][--map-by][core:OVERSUBSCRIBE][--bind-to][core:overload-allowed]"
            "[--host][a:2,b:2][-x][TWO][-x][ONE][-x][TEFF_RANKS][setpriv][--pdeathsig][KILL][program][0]");
  EXPECT_EQ(start("hydra", "node program 0", two + " TEFF_HOSTS=a,b,c").words,
            "[-ppn][1][-bind-to][none][-hosts][a:1,b:1][program][0]");
  const std::string srun = two + " SLURM_JOB_NUM_NODES=4 TEFF_LAUNCHER=" TEFF_SRUN;
  EXPECT_EQ(start("open_mpi", "core 6 program 0", srun).words,
            "[--overlap][-n][6][--overcommit][--cpus-per-task=1][--cpu-bind=cores]"
            "[--nodes=2][--ntasks-per-node=3][setpriv][--pdeathsig][KILL][program][0]");
  EXPECT_EQ(
      start("open_mpi", "node program 0", srun + " TEFF_HOSTS=a,b,c").words,
      "[--overlap][-n][2][--ntasks-per-node=1][--cpu-bind=none][--nodes=2][--nodelist=a,b][program][0]");
}

TEST(start_ranks, ends_as_the_program_does) {
  for (const char* const kind : {"open_mpi", "hydra"})
    for (const int code : {0, 1, 2}) EXPECT_EQ(start(kind, "core 2 " + std::to_string(code)).code, code);
}

TEST(start_ranks, tells_by_its_code_the_signal_that_ended_a_rank) {
  EXPECT_EQ(start("open_mpi", "core 2 137").code, 137);
  EXPECT_EQ(start("hydra", "core 2 9").code, 137);
  EXPECT_EQ(start("hydra", "node 11").code, 139);
}

}  // namespace
