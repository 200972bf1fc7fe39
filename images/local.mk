# Images are built on their own (images/build), not by make.

EXTRA_DIST += \
	%reldir%/build \
	%reldir%/kernel.config \
	%reldir%/lib/apt.sh \
	%reldir%/lib/contents.py \
	%reldir%/lib/foreign.py \
	%reldir%/lib/initrd.sh \
	%reldir%/lib/kernel.sh \
	%reldir%/lib/kernel_own.sh \
	%reldir%/lib/manifest.sh \
	%reldir%/lib/pip.py \
	%reldir%/lib/python.py \
	%reldir%/lib/recipe.py \
	%reldir%/lib/root.sh \
	%reldir%/lib/sandbox.sh \
	%reldir%/lib/sandbox_filter.py \
	%reldir%/lib/settle \
	%reldir%/manage.py \
	%reldir%/modules \
	%reldir%/python-full/recipe \
	%reldir%/python-full/smoke.py \
	%reldir%/python-minimal/recipe \
	%reldir%/python-minimal/smoke.py \
	%reldir%/python/recipe \
	%reldir%/python/smoke.py \
	%reldir%/plain_machine.py \
	%reldir%/smoke \
	%reldir%/users.py \
	%reldir%/wheelhouse
