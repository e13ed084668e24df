package kubernetes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// job decodes the manifest; an unknown field is an error.
func job(t *testing.T) *batchv1.Job {
	t.Helper()
	var job batchv1.Job
	if err := yaml.UnmarshalStrict([]byte(read(t, "batch/job.yaml")), &job); err != nil {
		t.Fatal(err)
	}
	return &job
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// bgremove builds the program.
func bgremove(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bgremove")
	build := exec.Command("go", "build", "-o", program, "./cmd/bgremove")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func TestJobIsIndexed(t *testing.T) {
	t.Parallel()
	job := job(t)
	if job.APIVersion != "batch/v1" || job.Kind != "Job" {
		t.Errorf("%s %s", job.APIVersion, job.Kind)
	}
	if mode := job.Spec.CompletionMode; mode == nil || *mode != batchv1.IndexedCompletion {
		t.Error("the pods get no index")
	}
	if job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Error("a podFailurePolicy needs restartPolicy: Never")
	}
}

// The program takes its part from the manifest's variables, with the manifest's flags.
func TestJobRuns(t *testing.T) {
	t.Parallel()
	job, program, dir := job(t), bgremove(t), t.TempDir()
	container := job.Spec.Template.Spec.Containers[0]
	picture := read(t, "../../testdata/pygif/animation.gif")
	places := map[string]string{}
	for _, mount := range container.VolumeMounts {
		places[mount.MountPath] = filepath.Join(dir, mount.Name)
		if err := os.Mkdir(places[mount.MountPath], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(places["/clips"], "a.gif"), []byte(picture), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, arg := range container.Args {
		if place, ok := places[arg]; ok {
			arg = place
		}
		args = append(args, arg)
	}
	for index := range int(*job.Spec.Completions) {
		run := exec.Command(program, append(args, "--method", "fast")...)
		run.Env = append(os.Environ(), "JOB_COMPLETION_INDEX="+strconv.Itoa(index)) // as Kubernetes sets it
		for _, env := range container.Env {
			run.Env = append(run.Env, env.Name+"="+env.Value)
		}
		out, err := run.CombinedOutput()
		if want := "shard " + strconv.Itoa(index+1) + "/" + strconv.Itoa(int(*job.Spec.Completions)) + ":"; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, without %q:\n%s", err, want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(places["/cut"], "a-nobg.gif")); err != nil {
		t.Error(err)
	}
}

// The pod's user is that of the image.
func TestJobUser(t *testing.T) {
	t.Parallel()
	user := imageUser(t)
	pod := job(t).Spec.Template.Spec.SecurityContext
	for name, id := range map[string]*int64{"user": pod.RunAsUser, "group": pod.RunAsGroup, "group of files": pod.FSGroup} {
		if id == nil || strconv.FormatInt(*id, 10) != user {
			t.Errorf("%s is not %s, the user of the image", name, user)
		}
	}
}

// imageUser is the id of the image's user.
func imageUser(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`--uid (\d+) bgremove`).FindStringSubmatch(read(t, "../Containerfile"))
	if m == nil {
		t.Fatal("the Containerfile has no user")
	}
	return m[1]
}

// Each exit code that ends a part or the job is in the guide's table.
func TestJobExitCodes(t *testing.T) {
	t.Parallel()
	guide := read(t, "../../docs/batch.md")
	var codes []int32
	for _, rule := range job(t).Spec.PodFailurePolicy.Rules {
		if rule.OnExitCodes != nil {
			codes = append(codes, rule.OnExitCodes.Values...)
		}
	}
	slices.Sort(codes)
	if !slices.Equal(codes, []int32{2, 3, 4}) {
		t.Errorf("rules for the exit codes %v", codes)
	}
	for _, code := range codes {
		if !strings.Contains(guide, "\n| "+strconv.Itoa(int(code))+" | ") {
			t.Errorf("docs/batch.md does not have exit code %d", code)
		}
	}
}
