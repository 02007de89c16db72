// Validates both documents with swagger-parser, which many generators use, and with the
// OpenAPI Initiative's schema of OpenAPI 3.1 and JSON Schema 2020-12.
import SwaggerParser from '@apidevtools/swagger-parser';
import { validate } from '@hyperjump/json-schema/openapi-3-1';

for (const file of ['openapi.yaml', 'control.json']) {
  await SwaggerParser.validate(file);
  const result = await validate(
    'https://spec.openapis.org/oas/3.1/schema-base',
    await SwaggerParser.parse(file),
    'BASIC',
  );
  if (!result.valid) {
    console.error(result.errors);
    throw new Error(`${file} does not match the OpenAPI 3.1 schema`);
  }
  console.log(`ok: swagger-parser, the OpenAPI 3.1 schema: ${file}`);
}
