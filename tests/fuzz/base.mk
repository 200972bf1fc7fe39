# Fuzz targets of base.
