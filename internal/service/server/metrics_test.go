package server_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// TestMetricsNearby checks that only this machine can see the metrics, and not
// visitors of a proxy on it.
func TestMetricsNearby(t *testing.T) {
	t.Parallel()
	c := configuration(t, storetest.SQLite(t))
	n := start(t, c)
	ada := newCustomer(t, c.Database, 0)
	if got := ada.get(n.url + "/metrics"); got.status != http.StatusOK || !strings.Contains(got.body, `bgremove_jobs{state="queued"} 0`) {
		t.Errorf("got %d %s", got.status, got.body)
	}
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"} {
		if got := ada.get(n.url+"/metrics", header, "203.0.113.5"); got.status != http.StatusNotFound || got.body != `{"error":"not_found"}` {
			t.Errorf("with %s: %d %s", header, got.status, got.body)
		}
	}
}

// TestMetricsBehindProxy checks that a trusted proxy on this machine does not
// get the metrics, even without a header about its visitor.
func TestMetricsBehindProxy(t *testing.T) {
	t.Parallel()
	c := configuration(t, storetest.SQLite(t))
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	n := start(t, c)
	ada := newCustomer(t, c.Database, 0)
	if got := ada.get(n.url + "/metrics"); got.status != http.StatusNotFound {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// TestMetricsAreDocumented compares the metrics of a node after a job with the
// list of docs/operations.md, and with the metrics of the alerts.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	c := configuration(t, storetest.SQLite(t))
	n := start(t, c)
	ada := newCustomer(t, c.Database, 10)
	ada.submitted(n, clip(t), "method", "fast")

	var served []string
	for _, line := range strings.Split(ada.metrics(n.url, `bgremove_job_run_seconds_count{outcome="done"} 1`), "\n") {
		if name, ok := strings.CutPrefix(line, "# TYPE bgremove_"); ok {
			name, _, _ = strings.Cut(name, " ")
			served = append(served, "bgremove_"+name)
		}
	}
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(bgremove_[a-z_]+)").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, row[1])
	}
	slices.Sort(served)
	slices.Sort(documented)
	if diff := cmp.Diff(documented, served); diff != "" {
		t.Errorf("documented (-), served (+):\n%s", diff)
	}
	for _, path := range []string{"prometheus/rules.yaml", "grafana/bgremove.json"} {
		for _, name := range regexp.MustCompile(`bgremove_[a-z_]+`).FindAllString(deployed(t, path), -1) {
			if !slices.Contains(served, regexp.MustCompile(`_(count|sum|bucket)$`).ReplaceAllString(name, "")) {
				t.Errorf("%s is about %s, which is not served", path, name)
			}
		}
	}
}

// TestCountedFromZero checks that a new node serves each series in which an alert counts
// an increase. Prometheus would miss the first event of one that begins with it.
func TestCountedFromZero(t *testing.T) {
	t.Parallel()
	c := configuration(t, storetest.SQLite(t))
	n := start(t, c)
	served := newCustomer(t, c.Database, 0).get(n.url + "/metrics").body
	counted := regexp.MustCompile(`increase\((\w+)\{(.*?)\}`).FindAllStringSubmatch(deployed(t, "prometheus/rules.yaml"), -1)
	for _, found := range counted {
		labels := regexp.MustCompile(`(\w+)=~?"(.*?)"`).ReplaceAllString(found[2], `$1="$2"`)
		if !regexp.MustCompile(`(?m)^` + found[1] + `\{` + labels + `\} \d`).MatchString(served) {
			t.Errorf("an alert counts %s, which is not served from the start", found[0])
		}
	}
	if len(counted) < 5 {
		t.Errorf("alerts count only %v", counted)
	}
}

// deployed is a file of deploy.
func deployed(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The runbook has a heading for each alert, and for nothing else.
func TestRunbook(t *testing.T) {
	t.Parallel()
	var alerts, headings []string
	for _, found := range regexp.MustCompile(`(?m)^ +- alert: (\S+)$`).FindAllStringSubmatch(deployed(t, "prometheus/rules.yaml"), -1) {
		alerts = append(alerts, found[1])
	}
	for _, found := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(deployed(t, "../docs/runbook.md"), -1) {
		headings = append(headings, found[1])
	}
	if diff := cmp.Diff(alerts, headings); diff != "" || len(alerts) == 0 {
		t.Errorf("alerts (-), headings (+):\n%s", diff)
	}
}

// Each panel of the dashboard asks something, and takes all of a row.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var d struct {
		Panels []struct {
			Type, Title, Description string
			GridPos                  struct{ X, Y, W int }
			Targets                  []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(deployed(t, "grafana/bgremove.json")), &d); err != nil {
		t.Fatal(err)
	}
	width := map[int]int{}
	for _, p := range d.Panels {
		width[p.GridPos.Y] += p.GridPos.W
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0 || p.Targets[0].Expr == "") {
			t.Errorf("%q says or asks nothing", p.Title)
		}
	}
	for y, w := range width {
		if w != 24 {
			t.Errorf("the panels at %d are %d wide, not 24", y, w)
		}
	}
}
