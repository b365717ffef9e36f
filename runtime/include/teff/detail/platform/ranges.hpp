// The concepts and access functions of std::ranges, and subrange. <algorithm> has them, since its algorithms
// take and return them. <ranges> also has the views and the streams that they read, which take a twentieth of
// the time that a small file takes to compile.
#pragma once

#include <algorithm>
