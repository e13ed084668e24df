//go:build gs

package bucket

import _ "gocloud.dev/blob/gcsblob" // for gs:

// built are the schemes that not every build knows.
var built = []string{"gs"}
