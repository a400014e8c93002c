"""Every command of ``hm`` as data, a file or two for each heading."""
