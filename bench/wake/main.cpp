// Wake and park on the tasks of one system. TEFF_TASKS is the header in its folder that defines them.
#include TEFF_TASKS

#include "teff/wake/drive.hpp"

int main(int argc, char** argv) {
  return teff::wake::drive<task_system>(argc, argv);
}
