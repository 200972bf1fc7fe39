# Benchmarks: run by hand or by contrib/check, never built.

EXTRA_DIST += %reldir%/http %reldir%/run
