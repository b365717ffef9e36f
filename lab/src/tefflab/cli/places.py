"""Where the programs of a sitting run: on which nodes, and by which launcher."""

from collections.abc import Sequence

from tefflab.errors import InputError, TeffError
from tefflab.host.batch_system import why_allocation_is_over
from tefflab.host.node import Node, ask_nodes, differences
from tefflab.host.ranks import launcher_and_hosts, start_ranks_by, why_fewer
from tefflab.host.terminal import progress
from tefflab.records.plan import Plan, counted_nodes
from tefflab.records.run import Sitting
from tefflab.systems.logged import Waiting
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER

_OTHERWISE = "or leave out --resume to begin another"


def expect_nodes(nodes: int | None) -> None:
    """InputError if ranks can't be started on so many; None: a sitting of this machine."""
    ended = nodes and why_allocation_is_over()
    if why := f"the allocation has ended ({ended}): begin another one" if ended else why_fewer(nodes):
        raise InputError(f"--nodes {nodes}: {why}")


def told_nodes(registry: Registry, count: int) -> Sequence[Node]:
    """Asks so many nodes which machines they are; none if they do not answer. The differences between the nodes are
    printed now: nobody has to wait for the table."""
    nodes: Sequence[Node] = ()
    if count:
        waits = Waiting(progress(), f"asking {counted_nodes(count)} what they are; a launcher may wait in a queue")
        try:
            with waits:
                nodes = ask_nodes(registry.root / BUILD_FOLDER / "bin", count, waits.look)
        except TeffError as failure:
            progress().print(f"teff: {failure}", soft_wrap=True, markup=False)
    for number, texts in differences(nodes).items():
        progress().print(f"teff: node {number}: {'; '.join(texts)}", soft_wrap=True, markup=False)
    return nodes


def start_ranks_as_before(plan: Plan, launcher: str | None, hosts: str | None) -> None:
    """The plan's launcher starts the ranks, also where this shell has another. Other hosts may replace the plan's.
    InputError if the user wants another launcher."""
    start_ranks_by(launcher, hosts)
    said, names = launcher_and_hosts()
    if said not in ("", plan.launcher):
        before = plan.launcher or "the usual launcher"
        raise InputError(
            f"--launcher {said}: the sitting's runs were started by {before}; leave it out (TEFF_LAUNCHER, too), "
            + _OTHERWISE
        )
    if names and not plan.hosts:
        raise InputError(
            f"--hosts {','.join(names)}: the sitting's runs were made without; leave it out (TEFF_HOSTS, too), "
            + _OTHERWISE
        )
    start_ranks_by(plan.launcher, ",".join(names or plan.hosts))


def expect_alike(registry: Registry, head: Sitting) -> None:
    """Before a sitting over nodes goes on: InputError if a node is another machine than its nodes were."""
    there = sum(not why_fewer(each.number) for each in head.nodes)
    known = {each.machine.id for each in head.nodes}
    for each in told_nodes(registry, there):
        if each.machine.id not in known:
            raise InputError(
                f"node {each.number} is another machine than those of the sitting ({each.machine.summary}, not "
                f"{head.nodes[0].machine.summary}): use nodes as before, {_OTHERWISE}"
            )
