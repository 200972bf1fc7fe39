# Unit tests of wire.
