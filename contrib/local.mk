EXTRA_DIST += \
	%reldir%/check \
	%reldir%/count-tests \
	%reldir%/install-deps \
	%reldir%/quickstart \
	%reldir%/say.sh
