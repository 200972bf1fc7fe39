# Unit tests of store.
