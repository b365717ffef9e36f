// The concepts and access functions of std::ranges, and subrange. <algorithm> has them, since its algorithms
// take ranges and return subranges. <ranges> also has the views and their streams. These take a twentieth of
// the time that a small file takes to compile.
#pragma once

#include <algorithm>
