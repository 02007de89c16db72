package api

// MaxImport is the maximum number of contacts in an import (specification,
// "Limits"). The number must equal maxItems in the OpenAPI document, because
// the generator creates no constant for maxItems.
const MaxImport = 1000
