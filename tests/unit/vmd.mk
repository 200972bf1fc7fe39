# Unit tests of vmd.
