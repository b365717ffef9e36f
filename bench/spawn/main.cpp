// The spawn patterns on the tasks of one system. TEFF_TASKS is the header in its folder that defines them.
#include TEFF_TASKS

#include "teff/spawn/drive.hpp"

int main(int argc, char** argv) {
  return teff::spawn::drive<task_system>(argc, argv);
}
