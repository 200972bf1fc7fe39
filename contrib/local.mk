# contrib: list what a release needs in EXTRA_DIST.
