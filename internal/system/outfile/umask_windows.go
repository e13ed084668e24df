package outfile

import "io/fs"

// umask is 0: Windows has none.
func umask() fs.FileMode { return 0 }
