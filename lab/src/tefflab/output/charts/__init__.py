"""The pictures of the lab: every one an Altair chart, which `sheet` writes as SVG, PNG and PDF and reports hold as SVG.

All time and rate axes are logarithmic, and all intervals hold with 95 % confidence. A variant looks the same in every
picture of the same variants, and no text covers data.
"""
