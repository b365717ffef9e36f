"""The pictures of the lab: every one a matplotlib figure, written as SVG and PNG by `sheet.save`, as PDF
by `sheet.save_pages`.

All time and rate axes are logarithmic, and all intervals hold with 95 % confidence. A variant looks the same in every
picture of the same variants, and no text covers data.
"""
