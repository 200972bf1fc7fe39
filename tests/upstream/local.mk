# A model that does what its script says, for tests, examples and documentation.

dist_check_SCRIPTS += %reldir%/model.py
