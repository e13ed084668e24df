package removal

// Translate is what a file's error becomes in the service.
var Translate = translate
