// Two validators' opinions on openapi.yaml: swagger-parser, which many generators
// stand on, and the schema that the OpenAPI Initiative publishes for documents,
// with all schemas in it held against JSON Schema 2020-12.
import SwaggerParser from '@apidevtools/swagger-parser'
import { validate } from '@hyperjump/json-schema/openapi-3-1'

const file = 'openapi.yaml'
await SwaggerParser.validate(file)
console.log('ok: swagger-parser')

const result = await validate('https://spec.openapis.org/oas/3.1/schema-base', await SwaggerParser.parse(file), 'BASIC')
if (!result.valid) {
	console.error(result.errors)
	throw new Error('the document does not keep to the OpenAPI 3.1 schema')
}
console.log('ok: the OpenAPI 3.1 schema')
