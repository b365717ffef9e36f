// Wake and park on the tasks of one system: TEFF_TASKS is the header of its folder that says what they are.
#include TEFF_TASKS

#include "teff/wake/drive.hpp"

int main(int argc, char** argv) {
  return teff::wake::drive<task_system>(argc, argv);
}
