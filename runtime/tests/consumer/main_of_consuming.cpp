// Uses a library that uses libteff.
long sum_below(int n);

int main() {
  return sum_below(100) == 4950 ? 0 : 1;
}
