package dashboard

// What only tests see.
var (
	LocalPath = localPath
	CountText = countText
	BytesText = bytesText
	Sentence  = sentence
)

// Routes are the patterns of all pages: for everybody, and for who is signed
// in.
func Routes() (open, closed []string) {
	d := &Dashboard{}
	for pattern := range d.publicPages() {
		open = append(open, pattern)
	}
	for pattern := range d.signedInPages() {
		closed = append(closed, pattern)
	}
	return open, closed
}
