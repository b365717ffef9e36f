"""Adds up a file of accounts, whose layout the lab's reader has, in plain nanoseconds."""

from pathlib import Path

import numpy as np

from tefflab.profiles.accounts import BLOCK, HEADER, MAGIC, SITE, VERSION


class Accounts:
    """Times in nanoseconds. A thread's last state lasts to the file's end."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        self.header = np.frombuffer(content, HEADER, 1)[0]
        if (self.header["magic"], self.header["version"]) != (MAGIC, VERSION):
            raise ValueError(f"{path}: not a file of accounts of version {VERSION}")
        blocks = np.frombuffer(content[HEADER.itemsize :], BLOCK).copy()
        self.blocks = blocks[blocks["seat"] > 0]
        first, last = self.header["first"], self.header["last"]
        self.ns = float(last["nanoseconds"] - first["nanoseconds"]) / max(1.0, float(last["ticks"] - first["ticks"]))
        seats = self.blocks[self.blocks["part"] == 0]
        end = self.header["ended"] or max(seats["since"].max(initial=0), last["ticks"])
        for seat in seats:
            seat["times"][seat["now"]] += max(0, int(end) - int(seat["since"]))
            seat["times"][-1] += seat["delayed"]  # displaced
        self.elapsed = float(int(end) - int(self.header["started"])) * self.ns
        self.seats = seats["times"].astype(float) * self.ns  # by seat and state
        names = [name.decode() for name in self.header["states"] if name]
        self.states = dict(zip(names, self.seats.sum(axis=0), strict=False))
        del self.states["absent"]
        used = [block["sites"][: block["sites_used"]] for block in self.blocks]
        self.sites = np.concatenate(used) if used else np.empty(0, SITE)

    def bodies(self, *kinds: str) -> tuple[int, float]:
        """How many bodies of these kinds ended, and their time without the collector's part."""
        numbers = [list(self.header["kinds"]).index(kind.encode()) for kind in kinds]
        sites = self.sites[np.isin(self.sites["what"], numbers)]
        own = sites["segments"].sum() * float(self.header["own"])
        return int(sites["count"].sum()), (float(sites["time"].sum()) - own) * self.ns

    def in_bodies(self) -> float:
        """The threads' time in bodies, and at most in which the threads had no core within."""
        return float(self.states["body"] + self.states["displaced"])

    def in_regions(self) -> float:
        """The threads' time in parallel regions."""
        return float(sum(self.states.values()) - self.states["serial"])
