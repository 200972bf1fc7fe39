# End-to-end tests: pytest drives the real daemon. They are run by contrib/check.
