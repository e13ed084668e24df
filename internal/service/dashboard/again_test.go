package dashboard_test

import (
	"net/http"
	"testing"
)

// TestPriceOfPart refuses another part of a clip. The button then has the price of that part.
func TestPriceOfPart(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"hop.gif", string(clip(t))}, "method", "fast", "end", "2")[0]
	p.get("/?again="+id).says(http.StatusOK, "Run again for 3 credits", "Another start or end changes the price.")
	p.upload("/jobs/"+id+"/again", nil, "end", "", "harmonise", "true").says(http.StatusBadRequest, "Harmonise needs a background.", "Run again for 4 credits")
}
