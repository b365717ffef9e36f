#pragma once

namespace teff::collect {

// Measures the collector's own part of a segment, by a loop with empty chunks on a runtime that does nothing. Notes it in the
// header, and counts bodies alone that are shorter than that and 100 ns. Takes a fraction of a millisecond.
void calibrate();

} // namespace teff::collect
