# Unit tests of core.
