"""The table of the nodes of a sitting."""

from collections.abc import Sequence

from tefflab.host.node import Node, differences
from tefflab.output.quantities import duration, percent, rate
from tefflab.output.sections import Section
from tefflab.output.table import Column


def nodes_section(nodes: Sequence[Node]) -> list[Section]:
    """A row a node; a terminal shows it if a node differs from the others."""
    if not nodes:
        return []
    apart = differences(nodes)
    columns = [
        Column("node", [str(each.number) for each in nodes]),
        Column("differs", ["; ".join(apart.get(each.number, [])) for each in nodes], "left"),
        Column("ceiling", [rate(each.rate, "FLOP/s") if each.rate else "-" for each in nodes], priority=1),
        Column("gaps", [percent(each.gap_share) if each.gap_share is not None else "-" for each in nodes], priority=2),
        Column("cores apart", [duration(each.round_trip) if each.round_trip else "-" for each in nodes], priority=3),
        Column("machine", [each.machine.summary for each in nodes], "left", priority=4),
    ]
    note = "the ceiling of several nodes is that of the slowest" if apart else "all nodes are alike"
    return [Section("Nodes", columns, [note], is_detail=not apart)]
