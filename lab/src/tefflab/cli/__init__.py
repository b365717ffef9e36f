"""The command `teff`: its commands and their options."""
