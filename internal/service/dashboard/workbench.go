package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
)

// recentJobs is the number of jobs on the workbench.
const recentJobs = 12

type workbenchPage struct {
	page
	Options  job.Options
	MaxFile  int64
	MaxFiles int
	// KeepInputs and KeepOutputs are how long uploads and results stay after a job has ended.
	KeepInputs, KeepOutputs time.Duration

	Again *jobView // the job that the form runs again
	Shown *jobView
	Jobs  []jobView
}

func (d *Dashboard) workbench(v *visit) error {
	p := v.workbenchPage()
	if id := v.field("again"); id != "" {
		j, err := v.find(id)
		if err != nil {
			return err
		}
		if !j.Repeatable() {
			p.Problem = &problem{Title: "That clip is not here any more.", Text: "Drop it again."}
		} else {
			p.repeat(&j)
		}
	}
	if v.field("after") == "confirmed" {
		p.Done = "Your address is confirmed."
	}
	return v.showWorkbench(http.StatusOK, p)
}

func (v *visit) workbenchPage() workbenchPage {
	p := workbenchPage{page: v.page("Workbench", "/"), Options: job.DefaultOptions(), MaxFile: v.MaxFile, MaxFiles: v.MaxFiles}
	p.KeepInputs, p.KeepOutputs = v.Jobs.Kept()
	p.Script = "workbench.js"
	return p
}

// repeat offers to use the input of a job again.
func (p *workbenchPage) repeat(j *jobView) {
	p.Again, p.Shown, p.Options = j, j, j.Options
}

// AgainCost is the price of running the job again with the options in the form.
func (p workbenchPage) AgainCost() int64 { return p.Options.Price(p.Again.Media) }

func (v *visit) showWorkbench(status int, p workbenchPage) error {
	jobs, err := v.Jobs.List(v.Context(), v.owner(), job.Page{Limit: recentJobs})
	if err != nil {
		return err
	}
	p.Jobs = v.views(jobs)
	if p.Shown == nil && len(p.Jobs) > 0 {
		p.Shown = &p.Jobs[0]
	}
	return v.show(status, "workbench", p)
}

// submit accepts files. A script gets cards of the new jobs, or the problem.
func (d *Dashboard) submit(v *visit) error {
	return v.answerSubmission(v.forward("/api/jobs"), v.workbenchPage)
}

// again runs a job again with other options.
func (d *Dashboard) again(v *visit) error {
	id := v.PathValue("id")
	var form bytes.Buffer // no more than the API takes
	v.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(v.Body, &form), v.Body}
	return v.answerSubmission(v.forward("/api/jobs/"+id+"/again"), func() workbenchPage {
		p := v.workbenchPage()
		if j, err := v.find(id); err == nil && j.Repeatable() {
			p.repeat(&j)
			p.Options = typed(p.Options, v.Header.Get("Content-Type"), &form)
		}
		return p
	})
}

// typed are the options of a form, so that nobody types them twice. One that is wrong or
// empty has its default. A form that cannot be read to its end leaves the former options.
func typed(former job.Options, contentType string, form io.Reader) job.Options {
	_, parameters, _ := mime.ParseMediaType(contentType)
	parts := multipart.NewReader(form, parameters["boundary"])
	o := job.DefaultOptions()
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return o
		}
		if err != nil {
			return former
		}
		value, err := io.ReadAll(p)
		if err != nil {
			return former
		}
		if len(value) > 0 {
			_, _ = o.Set(p.FormName(), string(value)) // the page says what is wrong
		}
	}
}

// answerSubmission answers a submission. refused makes the page for correcting it.
func (v *visit) answerSubmission(got *answer, refused func() workbenchPage) error {
	switch {
	case !got.ok() && v.isFragment():
		p := page{Problem: got.problem()}
		return v.fragment(got.status, "notice", p)
	case !got.ok():
		p := refused()
		p.Problem = got.problem()
		return v.showWorkbench(got.status, p)
	}
	var receipt struct{ Jobs []job.ReceiptItem }
	if err := json.Unmarshal(got.body.Bytes(), &receipt); err != nil {
		return err
	}
	if !v.isFragment() {
		if len(receipt.Jobs) == 1 {
			return v.redirect("/jobs/" + receipt.Jobs[0].ID)
		}
		return v.redirect("/jobs")
	}
	var made []jobView
	for _, item := range receipt.Jobs {
		j, err := v.find(item.ID)
		if err != nil {
			return err
		}
		made = append(made, j)
	}
	return v.fragment(http.StatusAccepted, "cards", made)
}
