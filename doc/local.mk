# doc: manual pages (mdoc, by hand) and guides.

# dist_man_MANS += %reldir%/cupolad.8
# dist_doc_DATA += %reldir%/guest-protocol.md
