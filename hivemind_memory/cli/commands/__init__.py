"""Every command of ``hm`` as data, a file for each heading of the list."""
