# debian: the packages, by dpkg-buildpackage; doc/operations.md.

EXTRA_DIST += \
	%reldir%/changelog \
	%reldir%/control \
	%reldir%/copyright \
	%reldir%/cupola-images.install \
	%reldir%/cupola-images.links \
	%reldir%/cupola-images.lintian-overrides \
	%reldir%/cupola-images.manpages \
	%reldir%/cupola.config \
	%reldir%/cupola.install \
	%reldir%/cupola.manpages \
	%reldir%/cupola.postinst \
	%reldir%/cupola.postrm \
	%reldir%/cupola.prerm \
	%reldir%/cupola.templates \
	%reldir%/rules \
	%reldir%/source/format
