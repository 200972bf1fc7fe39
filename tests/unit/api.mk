# Unit tests of api.
