package dashboard

import (
	"net/http"
	"net/url"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
)

// jobsPageSize is the number of jobs on a page of the list.
const jobsPageSize = 48

type jobsPage struct {
	page
	Filters             []link
	Filtered            bool
	Groups              []group
	First, Fresh        bool // First: the page of the newest jobs; Fresh: also not filtered
	FirstPath, NextPath string
}

// group is a batch, or the jobs between two batches.
type group struct {
	BatchID string // empty between batches
	At      time.Time
	Jobs    []jobView
	Partly  bool // there may be more jobs of the batch than the page has
}

func (g group) Size() int { return len(g.Jobs) }

// owner is the visitor, who sees all jobs of the account.
func (v *visit) owner() job.Owner { return job.Owner{AccountID: v.who.ID} }

func (d *Dashboard) jobs(v *visit) error {
	state, before := job.State(v.field("state")), v.field("before")
	if _, known := stateNames[state]; state != "" && !known {
		return errNoPage
	}
	p := jobsPage{page: v.page("Jobs", "/jobs"), Filters: filters(state), Filtered: state != "", First: before == ""}
	p.Script, p.Fresh, p.FirstPath = "live.js", p.First && !p.Filtered, jobsPath(state, "")
	jobs, err := d.Jobs.List(v.Context(), v.owner(), job.Page{State: state, Before: before, Limit: jobsPageSize + 1})
	if err != nil {
		return err
	}
	if len(jobs) > jobsPageSize {
		jobs = jobs[:jobsPageSize]
		p.NextPath = jobsPath(state, jobs[jobsPageSize-1].ID)
	}
	p.Groups = groups(v.views(jobs))
	for i := range p.Groups {
		p.Groups[i].Partly = p.Filtered || i == 0 && !p.First || i == len(p.Groups)-1 && p.NextPath != ""
	}
	return v.show(http.StatusOK, "jobs", p)
}

func filters(current job.State) []link {
	all := []link{{Path: "/jobs", Name: "All", Current: current == ""}}
	for _, s := range job.States() {
		all = append(all, link{Path: jobsPath(s, ""), Name: stateName(s), Current: s == current})
	}
	return all
}

func jobsPath(state job.State, before string) string {
	q := url.Values{}
	if state != "" {
		q.Set("state", string(state))
	}
	if before != "" {
		q.Set("before", before)
	}
	return (&url.URL{Path: "/jobs", RawQuery: q.Encode()}).String()
}

// groups groups consecutive jobs of a batch.
func groups(jobs []jobView) (all []group) {
	for _, j := range jobs {
		if last := len(all) - 1; last >= 0 && all[last].BatchID == j.BatchID {
			all[last].Jobs = append(all[last].Jobs, j)
			continue
		}
		all = append(all, group{BatchID: j.BatchID, At: j.CreatedAt, Jobs: []jobView{j}})
	}
	return all
}

type jobPage struct {
	page
	Job     jobView
	BatchID string
}

// find returns the job in the path if it is the visitor's.
func (v *visit) find(id string) (jobView, error) {
	j, err := v.Jobs.Get(v.Context(), v.owner(), id)
	return v.jobView(j), err
}

func (d *Dashboard) job(v *visit) error {
	j, err := v.find(v.PathValue("id"))
	if err != nil {
		return err
	}
	return v.showJob(http.StatusOK, j, nil)
}

// cancel cancels a job. One that has ended since the page was made stays as it is,
// whereas the route of the API would remove its files.
func (d *Dashboard) cancel(v *visit) error {
	if err := v.Throttle.Request(v.Context(), v.who.ID); err != nil {
		return err // no route of the API counts it
	}
	j, err := v.Jobs.Cancel(v.Context(), v.owner(), v.PathValue("id"))
	if err != nil {
		return err
	}
	return v.redirect("/jobs/" + j.ID)
}

// finish takes the result of a job.
func (d *Dashboard) finish(v *visit) error {
	j, err := v.find(v.PathValue("id"))
	if err != nil {
		return err
	}
	if d.Finish == nil || j.Output == nil {
		return errNoPage
	}
	if err := d.Finish.Take(v.Context(), j.ID); err != nil {
		return v.showJob(http.StatusConflict, j, &problem{Status: http.StatusConflict, Title: "The result was not written.", Text: sentence(err.Error())})
	}
	m := message{page: v.page("Done", ""), Heading: "Done", Text: d.Finish.Output + " is written. You can close this page."}
	m.Nav = nil // the service is about to end
	return v.show(http.StatusOK, "message", m)
}

func (v *visit) showJob(status int, j jobView, wrong *problem) error {
	p := jobPage{page: v.page(j.OriginalName, "/jobs"), Job: j, BatchID: j.BatchID}
	p.Script, p.Width, p.Problem = "job.js", "middling", wrong
	if !j.Ended() {
		p.Refresh = 3
	}
	return v.show(status, "job", p)
}

// card answers scripts with a job's entry in a list, and view with its full
// view.
func (d *Dashboard) card(v *visit) error { return v.showPart("card") }
func (d *Dashboard) view(v *visit) error { return v.showPart("view") }

func (v *visit) showPart(name string) error {
	j, err := v.find(v.PathValue("id"))
	if err != nil {
		return err
	}
	return v.fragment(http.StatusOK, name, j)
}
