package api

// MaxImport is the maximum number of contacts in an import (specification,
// "Limits"). It must equal maxItems in the OpenAPI document. The generator
// creates no constant for it.
const MaxImport = 1000
