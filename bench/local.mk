# Benchmarks: run by hand or by contrib/check, never built.

EXTRA_DIST += \
	%reldir%/baseline.json \
	%reldir%/creates.py \
	%reldir%/executions.py \
	%reldir%/imports \
	%reldir%/instructions.c \
	%reldir%/instructions.py \
	%reldir%/measure.py \
	%reldir%/memory.py \
	%reldir%/part.py \
	%reldir%/run \
	%reldir%/sides.py \
	%reldir%/small_calls.py \
	%reldir%/transfer.py \
	%reldir%/words
