// The public headers after headers that define common words as macros: no name of libteff is such a word.
//
// A macro here expands to a character that begins no token of C++, so its use is an error. The names of
// <windows.h> and of macOS's <AssertMacros.h> are not here, because libteff is for Linux. Nor are min and
// max: the C++ library takes these macros back.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <ostream>
#include <ranges>
#include <span>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

// <complex.h>.
#define I @
#define complex @
#define imaginary @

// Qt.
#define slots @
#define signals @
#define emit @
#define foreach @
#define forever @

// <sys/sysmacros.h>, <sys/param.h>.
#define major @
#define minor @
#define makedev @
#define MIN @
#define MAX @
#define howmany @
#define roundup @
#define powerof2 @
#define setbit @
#define clrbit @
#define isset @
#define isclr @

// the compiler, where extensions are on.
#define unix @
#define linux @
#define i386 @
#define sparc @
#define sun @
#define mips @
#define vax @

// X11.
#define Bool @
#define Status @
#define None @
#define Always @
#define Success @
#define True @
#define False @
#define Above @
#define Below @
#define Complex @
#define Convex @
#define Opposite @
#define Unsorted @
#define CurrentTime @
#define Expose @
#define FocusIn @
#define FocusOut @
#define KeyPress @
#define KeyRelease @
#define GrayScale @
#define NoSymbol @
#define DestroyAll @

// <ctype.h> of newlib.
#define _A @
#define _B @
#define _C @
#define _L @
#define _N @
#define _P @
#define _S @
#define _U @
#define _X @

// <termios.h>, <math.h>, <signal.h>, <sys/stat.h>, <netdb.h>, <dirent.h>, <sched.h>.
#define ECHO @
#define B0 @
#define CTRL @
#define NL0 @
#define CR0 @
#define HUGE @
#define DOMAIN @
#define SING @
#define OVERFLOW @
#define UNDERFLOW @
#define M_PI @
#define sa_handler @
#define sa_sigaction @
#define si_addr @
#define si_value @
#define si_pid @
#define sigev_value @
#define st_atime @
#define st_mtime @
#define st_ctime @
#define s_addr @
#define h_addr @
#define h_errno @
#define d_fileno @
#define sched_priority @

// <linux/fs.h>, CUDA, Objective-C, GLib, structmember.h of Python.
#define READ @
#define WRITE @
#define BLOCK_SIZE @
#define __device__ @
#define __host__ @
#define __global__ @
#define YES @
#define NO @
#define nil @
#define Nil @
#define __weak @
#define __unused @
#define ABS @
#define CLAMP @
#define READONLY @
#define RO @

// logging and test libraries.
#define CHECK @
#define REQUIRE @
#define TEST @
#define FAIL @
#define LOG @
#define ASSERT @
#define DEBUG @
#define INFO @

// gettext, and the kernel's.
#define _(x) @
#define N_(x) @
#define likely(x) @
#define unlikely(x) @
#define container_of(x) @

#include "all_headers.hpp"

int main() {}
