package api

// MaxImport is how many contacts an import may have (specification, "Limits"):
// maxItems of the document, of which the generator makes no constant.
const MaxImport = 1000
