// Package notices has the licences of the modules that the program is built from.
package notices

import _ "embed"

//go:generate go run github.com/bgremove/bgremove/tools/notices third-party-notices.txt

// Text is the list of modules, with each licence once. tools/notices makes it, and
// its test tells when a module is missing.
//
//go:embed third-party-notices.txt
var Text string
