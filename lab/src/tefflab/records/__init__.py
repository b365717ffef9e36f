"""The records that programs print, and the store that keeps them."""
