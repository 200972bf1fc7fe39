# doc: manual pages (mdoc, by hand) and guides.

dist_man_MANS += \
	%reldir%/cupolactl.1 \
	%reldir%/cupola-image.5 \
	%reldir%/cupolad.conf.5 \
	%reldir%/cupola-api.7 \
	%reldir%/cupola-protocol.7 \
	%reldir%/cupola-build.8 \
	%reldir%/cupola-guest.8 \
	%reldir%/cupola-vmd.8 \
	%reldir%/cupolad.8

dist_doc_DATA += \
	%reldir%/agents.md \
	%reldir%/architecture.md \
	%reldir%/guest-protocol.md \
	%reldir%/images.md \
	%reldir%/openapi.yaml \
	%reldir%/mcp.md \
	%reldir%/artifacts.md \
	%reldir%/performance.md \
	%reldir%/operations.md \
	%reldir%/reliability.md \
	%reldir%/security.md \
	%reldir%/troubleshooting.md \
	%reldir%/walkthrough.md

EXTRA_DIST += %reldir%/check-long.log %reldir%/kvmhost.log \
	%reldir%/soak-real.log
