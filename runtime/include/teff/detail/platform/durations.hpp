// The durations and clocks of std::chrono. <mutex> has them, since its locks take them. <chrono> also has
// calendars and the streams that write them, which take a tenth of the time that a small file takes to
// compile.
#pragma once

#include <mutex>
