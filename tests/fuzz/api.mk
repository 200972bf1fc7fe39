# Fuzz targets of api.
