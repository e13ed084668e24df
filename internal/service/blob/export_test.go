package blob

// Folders are those that an object of a store of files lies in, from its own to the store's.
func Folders(s *Store, key string) []string { return s.backend.(fileBackend).folders(key) }
