package dashboard_test

import (
	"net/http"
	"strings"
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

// TestAgainExpired runs a job again after its clip has gone. The page does not offer the clip.
func TestAgainExpired(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"hop.gif", string(clip(t))}, "method", "fast")[0]
	if _, err := s.db.ExecContext(t.Context(), "UPDATE jobs SET input_key = NULL WHERE id = $1", id); err != nil {
		t.Fatal(err)
	}
	got := p.upload("/jobs/"+id+"/again", nil, "method", "fast").says(http.StatusNotFound, "It may have expired", "Drop a clip here")
	if strings.Contains(got.body, "is still here") {
		t.Error("it offers a clip that has expired")
	}
}
