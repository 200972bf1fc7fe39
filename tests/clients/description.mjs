// Whether doc/openapi.yaml, the only argument, is OpenAPI 3.1 by its own schema.
import SwaggerParser from '@apidevtools/swagger-parser'

const api = await SwaggerParser.validate(process.argv[2])
console.log(`${Object.keys(api.paths).length} paths, OpenAPI ${api.openapi}`)
