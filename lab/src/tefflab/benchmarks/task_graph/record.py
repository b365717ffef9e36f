"""The record of a task graph's run. Only this module of the lab derives these values (granularity, rates)."""

from tefflab.records.record import Checked, RecordError


class GraphRecord(Checked):
    """One run of one program."""

    schema = "task_graph"
    more_work = "add timesteps"

    def fault(self) -> str:
        """Where validation was switched off, nothing is compared, and nothing proven."""
        return super().fault() if self.get("validation", "enabled") else ""

    @property
    def proven(self) -> bool:
        """Whether the run validated itself: only such a run may stand in a curve or table."""
        return self.ok and bool(self.get("validation", "enabled"))

    @property
    def tasks(self) -> int:
        return int(self.get("tasks") or 0)

    @property
    def work(self) -> int:
        """FLOPs or bytes of all tasks, in `rate_unit`; 0 where the kernel counts neither."""
        return int(self.get("flops") or self.get("bytes") or 0)

    @property
    def timesteps(self) -> int:
        return int(self.told["graphs"][0]["steps"])

    @property
    def granularity(self) -> float:
        """Wall time x cores / tasks [s]: the mean time a core spends on a task, overhead included."""
        wall = self.wall_seconds
        if not self.tasks or not self.workers:
            raise RecordError("a record without tasks has no granularity")
        return wall * self.workers / self.tasks

    @property
    def iterations(self) -> int:
        """Of a task; 0 for empty tasks, with any flags."""
        first = self.told["graphs"][0]
        return 0 if first["kernel"] == "empty" else int(first["iterations"])

    @property
    def rate_unit(self) -> str:
        """The unit of `rate`: `FLOP/s` where the kernel computes, `B/s` where it copies, else `task/s`."""
        if self.get("flops"):
            return "FLOP/s"
        return "B/s" if self.get("bytes") else "task/s"

    @property
    def rate(self) -> float:
        """The rate that suits the kernel, in `rate_unit`; efficiency is a share of it."""
        return (self.work or self.tasks) / self.wall_seconds
