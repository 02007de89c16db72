package api

// MaxImport is the maximum number of contacts in an import (specification,
// "Limits"). It is maxItems in the OpenAPI document; the generator creates no
// constant for it.
const MaxImport = 1000
