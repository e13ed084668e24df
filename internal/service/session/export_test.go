package session

// Subnet is a name that only tests use.
var Subnet = subnet
