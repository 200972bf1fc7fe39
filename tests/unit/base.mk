# Unit tests of base.
