#include "teff/programs/drive.hpp"

int main(int argc, char** argv) {
  return teff::programs::drive(argc, argv, teff::programs::this_system());
}
