"""Reads a file of accounts. Its types are defined in src/accounts.hpp."""

from pathlib import Path

import numpy as np

SITE = np.dtype(
    [("address", "u8"), ("module", "u4"), ("runtime", "u4"), ("what", "u4"), ("too_short", "u4")]
    + [(name, "u8") for name in ("count", "timed", "segments", "time", "longest")]
    + [("recent", "u8"), ("recently", "u4"), ("turn", "u4"), ("ahead", "u8")]
    + [("partner", "u4"), ("function", "u4"), ("lengths", "u8", 156)]
)
SEGMENT = np.dtype([("until", "u8"), ("address", "u8"), ("function", "u4"), ("what", "u2"), ("did", "u2")])
BLOCK = np.dtype(
    [(name, "u4") for name in ("seat", "part", "thread", "threads", "now", "sites_used")]
    + [("since", "u8"), ("regions", "u8"), ("times", "u8", 16), ("segments_noted", "u8")]
    + [("open", "u8"), ("delayed", "u8"), ("open_what", "u4"), ("reserved", "u4", 15), ("sites", SITE, 12)]
)
MODULE = np.dtype([("begin", "u8"), ("end", "u8"), ("path", "S496")])
MOMENT = np.dtype([("ticks", "u8"), ("nanoseconds", "u8")])
HEADER = np.dtype(
    [("magic", "S8")]
    + [(name, "u4") for name in ("version", "processors", "process", "parent", "modules_used", "seats")]
    + [(name, "u4") for name in ("lost_threads", "clock_reads_tsc")]
    + [(name, "u8") for name in ("own", "started", "ended", "real_time", "displaced")]
    + [("first", MOMENT), ("last", MOMENT), ("states", "S16", 16), ("kinds", "S16", 16)]
    + [("rank", "u4"), ("reserved", "u1", 3468), ("modules", MODULE, 120)]
)


class Accounts:
    """Times in nanoseconds. A thread's last state lasts to the file's end."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        self.header = np.frombuffer(content, HEADER, 1)[0]
        if (self.header["magic"], self.header["version"]) != (b"teffacct", 4):
            raise ValueError(f"{path}: not a file of accounts of version 4")
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
