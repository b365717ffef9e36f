"""The command `teff`: its commands and their options."""

import os

# A notebook sets it for all that it starts. Matplotlib refuses a back end that is not here, and teff draws into files.
os.environ.pop("MPLBACKEND", None)
