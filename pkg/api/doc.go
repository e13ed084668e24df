// Package api is the HTTP API of bgremove: its specification, and the types,
// client and server interface that are generated from it.
//
// Client and ClientWithResponses speak to a service; package client beside
// this one is friendlier. A service implements StrictServerInterface.
package api

import _ "embed"

//go:generate go tool oapi-codegen -config models.config.yaml -o models.gen.go openapi.yaml
//go:generate go tool oapi-codegen -config server.config.yaml -o server.gen.go openapi.yaml
//go:generate go tool oapi-codegen -config client.config.yaml -o client.gen.go openapi.yaml

// Specification is the OpenAPI 3.0.3 document, as YAML. It must not be changed.
//
//go:embed openapi.yaml
var Specification []byte
