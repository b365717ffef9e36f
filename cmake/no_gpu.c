/* The driver's library of NVIDIA, as far as runtimes from PyPI, which were linked with it, ask it where a
 * machine has no GPU: they do not start without one. Programs here run on the cores, so this stands in for
 * it, whether the machine has a driver or not. Names and numbers are those of CUDA's cuda.h. */
enum { CUDA_SUCCESS = 0, CUDA_ERROR_NO_DEVICE = 100 };

int cuInit(unsigned flags);
int cuGetErrorName(int error, const char** name);
int cuGetErrorString(int error, const char** text);
int cuMemFreeHost(void* memory);
int cuMemFree_v2(unsigned long long memory);

int cuInit(unsigned flags) {
  (void)flags;
  return CUDA_ERROR_NO_DEVICE;
}

int cuGetErrorName(int error, const char** name) {
  (void)error;
  *name = "CUDA_ERROR_NO_DEVICE";
  return CUDA_SUCCESS;
}

int cuGetErrorString(int error, const char** text) {
  (void)error;
  *text = "no GPU is used here";
  return CUDA_SUCCESS;
}

/* Nothing was allocated that could be freed. */
int cuMemFreeHost(void* memory) {
  (void)memory;
  return CUDA_ERROR_NO_DEVICE;
}

int cuMemFree_v2(unsigned long long memory) {
  (void)memory;
  return CUDA_ERROR_NO_DEVICE;
}
