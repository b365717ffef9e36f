// The durations and clocks of std::chrono: <mutex> has them, since its locks take them. <chrono> would bring
// its calendars, and with them the streams that write these: a tenth of the time that a small file takes to
// compile.
#pragma once

#include <mutex>
