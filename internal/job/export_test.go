package job

// What only tests of this package see.
var CheckLimits = Limits.check
