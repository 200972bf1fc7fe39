EXTRA_DIST += \
	%reldir%/install-deps \
	%reldir%/say.sh
