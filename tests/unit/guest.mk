# Unit tests of guest.
