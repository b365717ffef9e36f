"""`python cluster_lab.py ROOT WORD...` is `teff WORD...` on the checkout ROOT, without set-up and pictures."""

import sys
from pathlib import Path

import tefflab

_root = Path(sys.argv.pop(1))
tefflab.project_root = lambda: _root

from tefflab.cli import main, publishing, session  # noqa: E402 - they ask where the checkout is
from tefflab.measure import presence  # noqa: E402
from tefflab.output.charts.sheet import Picture  # noqa: E402

presence.ensure = lambda *_, **__: {}
publishing.save = lambda *_: None
Picture.svg = "<svg/>"
session.warn_of_others = lambda _: None
main.main()
