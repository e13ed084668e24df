package session

// Names that only tests of this package use.
var Neighbourhood = subnet
