"""The words of the house: plain values and ports. Nothing here does I/O."""
