package api

// MaxImport is the maximum number of contacts in an import (specification,
// "Limits"). It is maxItems in the OpenAPI document, for which the generator
// creates no constant.
const MaxImport = 1000
