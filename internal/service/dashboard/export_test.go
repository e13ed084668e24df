package dashboard

import "github.com/bgremove/bgremove/internal/service/job"

// Names that only tests use.
var (
	LocalPath = localPath
	CountText = countText
	BytesText = bytesText
	Sentence  = sentence
	RetryText = retryText
	StateName = stateName
)

// Routes returns the patterns of all pages: those for everybody, and those for
// signed-in visitors.
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

// OptionText is what the page of a job says of its options.
func OptionText(o job.Options) string { return jobView{Job: job.Job{Options: o}}.OptionText() }
