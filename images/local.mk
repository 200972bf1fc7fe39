# Images are built on their own (images/build), not by make.

EXTRA_DIST += \
	%reldir%/build \
	%reldir%/lib/customize \
	%reldir%/lib/initrd.sh \
	%reldir%/lib/kernel.sh \
	%reldir%/lib/manifest.sh \
	%reldir%/lib/publish.sh \
	%reldir%/lib/recipe.sh \
	%reldir%/lib/root.sh \
	%reldir%/modules \
	%reldir%/python-minimal/recipe \
	%reldir%/python-minimal/smoke.py \
	%reldir%/python/recipe \
	%reldir%/python/smoke.py \
	%reldir%/plain_machine.py \
	%reldir%/smoke
