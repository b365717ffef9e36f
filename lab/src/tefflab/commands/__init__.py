"""The commands of `teff`, a module each; `tefflab.cli` registers them."""
