package account

// hasher bounds how many passwords are hashed at once.
type hasher struct{}

func newHasher() *hasher { return &hasher{} }
