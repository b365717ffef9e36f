"""The commands of `teff`, a module each; `tefflab.cli.main` registers them."""
