package session

// What only tests of this package see.
var Neighbourhood = subnet
