# Fuzz targets of wire.
