"""Where the time of a run goes: `teff explain spawn`."""
