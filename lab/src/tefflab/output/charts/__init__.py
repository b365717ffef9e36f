"""The pictures of the lab: every one an Altair chart, which `sheet` writes as SVG, PNG and PDF and reports hold as SVG.

All time and rate axes are logarithmic, and all intervals hold with 95 % confidence. A variant looks the same in every
picture of the same variants, and no text covers data.
"""

import importlib
import os
from pathlib import Path
from tempfile import gettempdir

try:
    Path.home()
except RuntimeError:  # Altair asks for it as it is loaded, for the place of a cache which nothing here uses
    os.environ["HOME"] = gettempdir()
    importlib.import_module("altair")
    del os.environ["HOME"]
