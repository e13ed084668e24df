package kubernetes_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// job decodes a manifest; an unknown field is an error.
func job(t *testing.T, path string) *batchv1.Job {
	t.Helper()
	return decode[batchv1.Job](t, []byte(read(t, path)))
}

// The jobs: between volumes, and between folders of a bucket.
const volumeJob, bucketJob = "batch/job.yaml", "batch/bucket.yaml"

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
	job := job(t, volumeJob)
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

// The program takes its part from the manifests' variables, with their flags.
func TestJobRuns(t *testing.T) {
	t.Parallel()
	program, picture := bgremove(t), read(t, "../../testdata/pygif/animation.gif")
	for path, places := range map[string]struct{ in, out string }{volumeJob: {"clips", "cut"}, bucketJob: {"in", "out"}} {
		dir, spec := t.TempDir(), job(t, path).Spec
		in := filepath.Join(dir, places.in)
		if err := errors.Join(os.Mkdir(in, 0o700), os.WriteFile(filepath.Join(in, "a.gif"), []byte(picture), 0o600)); err != nil {
			t.Fatal(err)
		}
		container := spec.Template.Spec.Containers[0]
		for index := range int(*spec.Completions) {
			run := exec.Command(program, append(localArgs(container, dir), "--method", "fast")...)
			run.Env = append(os.Environ(), "JOB_COMPLETION_INDEX="+strconv.Itoa(index)) // as Kubernetes sets it
			for _, env := range container.Env {
				run.Env = append(run.Env, env.Name+"="+env.Value)
			}
			out, err := run.CombinedOutput()
			if want := "shard " + strconv.Itoa(index+1) + "/" + strconv.Itoa(int(*spec.Completions)) + ":"; err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, without %q:\n%s", path, err, want, out)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, places.out, "a-nobg.gif")); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// localArgs are a container's, with folders of dir in the place of volumes and of the bucket.
func localArgs(c corev1.Container, dir string) []string {
	args := slices.Clone(c.Args)
	for i, arg := range args {
		if mounted := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == arg }); mounted >= 0 {
			args[i] = filepath.Join(dir, c.VolumeMounts[mounted].Name)
		} else if key, ok := strings.CutPrefix(arg, "s3://clips/"); ok {
			args[i] = "file://" + dir + "/" + key
		}
	}
	return args
}

// The jobs differ in the places of the clips, and in what a pod needs for them.
func TestJobsAgree(t *testing.T) {
	t.Parallel()
	var rest []batchv1.JobSpec
	for _, path := range []string{volumeJob, bucketJob} {
		spec := job(t, path).Spec
		pod := &spec.Template.Spec
		c := &pod.Containers[0]
		pod.Volumes, c.VolumeMounts, c.Args, c.EnvFrom = nil, nil, nil, nil
		for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			delete(list, corev1.ResourceEphemeralStorage)
		}
		rest = append(rest, spec)
	}
	if !reflect.DeepEqual(rest[0], rest[1]) {
		t.Errorf("apart from the places, %s has\n%+v\nand %s\n%+v", volumeJob, rest[0], bucketJob, rest[1])
	}
}

// The pod's user is that of the image.
func TestJobUser(t *testing.T) {
	t.Parallel()
	user := imageUser(t)
	pod := job(t, volumeJob).Spec.Template.Spec.SecurityContext
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
	for _, rule := range job(t, volumeJob).Spec.PodFailurePolicy.Rules {
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
