package kubernetes_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// scaledObject has the fields of KEDA's that are used here.
type scaledObject struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	Metadata   struct{ Name string } `json:"metadata"`
	Spec       struct {
		ScaleTargetRef                                    struct{ Name string }
		MinReplicaCount, MaxReplicaCount, PollingInterval int
		Advanced                                          struct {
			HorizontalPodAutoscalerConfig struct {
				Behavior struct {
					ScaleDown struct{ StabilizationWindowSeconds int }
				}
			}
		}
		Triggers []struct {
			Type, MetricType string
			Metadata         map[string]string
		}
	} `json:"spec"`
}

// objects are those of a rendered kustomization.
type objects struct {
	deployments map[string]*appsv1.Deployment
	scaled      map[string]*scaledObject
	budgets     map[string]*policyv1.PodDisruptionBudget
	policies    []*networkingv1.NetworkPolicy
	services    []*corev1.Service
	settings    map[string]string
}

// render renders a kustomization and decodes its objects; an unknown field is an error.
func render(t *testing.T, path string) objects {
	t.Helper()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
	if err != nil {
		t.Fatal(err)
	}
	all := objects{deployments: map[string]*appsv1.Deployment{}, scaled: map[string]*scaledObject{}, budgets: map[string]*policyv1.PodDisruptionBudget{}}
	for _, resource := range rendered.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		switch resource.GetKind() {
		case "Deployment":
			all.deployments[resource.GetName()] = decode[appsv1.Deployment](t, text)
		case "ScaledObject":
			all.scaled[resource.GetName()] = decode[scaledObject](t, text)
		case "PodDisruptionBudget":
			all.budgets[resource.GetName()] = decode[policyv1.PodDisruptionBudget](t, text)
		case "NetworkPolicy":
			all.policies = append(all.policies, decode[networkingv1.NetworkPolicy](t, text))
		case "Service":
			all.services = append(all.services, decode[corev1.Service](t, text))
		case "ConfigMap":
			all.settings = decode[corev1.ConfigMap](t, text).Data
		default:
			t.Errorf("what is a %s?", resource.GetKind())
		}
	}
	return all
}

func decode[T any](t *testing.T, text []byte) *T {
	t.Helper()
	v := new(T)
	if err := yaml.UnmarshalStrict(text, v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// The program takes the flags and the settings of each Deployment.
func TestServiceStarts(t *testing.T) {
	t.Parallel()
	program := bgremove(t)
	for _, path := range []string{"service", "gpu"} {
		all := render(t, path)
		for name, d := range all.deployments {
			run := exec.Command(program, d.Spec.Template.Spec.Containers[0].Args...)
			run.Env = append(os.Environ(), "BGREMOVE_DATABASE=wrong:") // it must complain of that alone
			for setting, value := range all.settings {
				run.Env = append(run.Env, setting+"="+value)
			}
			out, err := run.CombinedOutput()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if run.ProcessState.ExitCode() != 2 || len(lines) != 2 || !strings.Contains(lines[0], "database must begin with") {
				t.Errorf("%s/%s: %v\n%s", path, name, err, out)
			}
		}
	}
}

// A pod that stops has time for what it is told to end.
func TestDrain(t *testing.T) {
	t.Parallel()
	for name, d := range render(t, "service").deployments {
		pod := d.Spec.Template.Spec
		args := pod.Containers[0].Args
		drain, err := time.ParseDuration(args[slices.Index(args, "--drain")+1])
		if err != nil {
			t.Fatal(err)
		}
		if hook := pod.Containers[0].Lifecycle; hook != nil {
			drain += time.Duration(hook.PreStop.Sleep.Seconds) * time.Second
		}
		if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace < drain+10*time.Second {
			t.Errorf("%s gets %v to stop, and needs more than %v", name, grace, drain)
		}
	}
}

// A pod may keep as much on its disk as the program does with its defaults: above the limit it
// would be evicted, with all uploads on their way.
func TestDisk(t *testing.T) {
	t.Parallel()
	help, err := exec.Command(bgremove(t), "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	var most int64
	for _, flag := range []string{"upload-space", "temp-space"} {
		found := regexp.MustCompile(`--` + flag + ` .*\(default (\d+)\)`).FindSubmatch(help)
		if found == nil {
			t.Fatalf("serve --help has no default of --%s", flag)
		}
		n, err := strconv.ParseInt(string(found[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		most += n
	}
	for name, d := range render(t, "service").deployments {
		if limit := d.Spec.Template.Spec.Containers[0].Resources.Limits.StorageEphemeral().Value(); limit <= most {
			t.Errorf("%s may keep %d bytes, and the program %d", name, limit, most)
		}
	}
}

// Everything that selects pods selects those of a Deployment, and names its ports.
func TestSelectors(t *testing.T) {
	t.Parallel()
	all := render(t, "service")
	selects := func(what string, selector map[string]string) (ports []string) {
		for _, d := range all.deployments {
			fits := len(selector) > 0
			for key, value := range selector {
				fits = fits && d.Spec.Template.Labels[key] == value
			}
			if fits {
				for _, p := range d.Spec.Template.Spec.Containers[0].Ports {
					ports = append(ports, p.Name)
				}
			}
		}
		if ports == nil {
			t.Errorf("%s selects no pod", what)
		}
		return ports
	}
	for name, d := range all.deployments {
		selects(name, d.Spec.Selector.MatchLabels)
		selects("the budget of "+name, all.budgets[name].Spec.Selector.MatchLabels)
		if scaled := all.scaled[name]; scaled == nil || scaled.Spec.ScaleTargetRef.Name != name {
			t.Errorf("nothing scales %s", name)
		}
	}
	for _, s := range all.services {
		if ports := selects(s.Name, s.Spec.Selector); !slices.Contains(ports, s.Spec.Ports[0].TargetPort.StrVal) {
			t.Errorf("%s leads to no port of %v", s.Name, ports)
		}
	}
	for _, p := range all.policies {
		ports := selects(p.Name, p.Spec.PodSelector.MatchLabels)
		for _, rule := range p.Spec.Ingress {
			if !slices.Contains(ports, rule.Ports[0].Port.StrVal) {
				t.Errorf("%s lets requests to no port of %v", p.Name, ports)
			}
		}
	}
}

// Nodes may connect to where the settings of docs/operations.md lead them: to the usual ports
// of https and of mail servers.
func TestEgress(t *testing.T) {
	t.Parallel()
	var open []int32
	for _, p := range render(t, "service").policies {
		for _, rule := range p.Spec.Egress {
			for _, port := range rule.Ports {
				open = append(open, port.Port.IntVal)
			}
		}
	}
	doc := read(t, "../../internal/service/mailer/mailer.go")
	ports := regexp.MustCompile(`smtps?:// \(port (\d+)\)`).FindAllStringSubmatch(doc, -1)
	for _, scheme := range append(ports, []string{"https://", "443"}) {
		if port, err := strconv.Atoi(scheme[1]); err != nil || !slices.Contains(open, int32(port)) {
			t.Errorf("nodes cannot connect to %s: only to %v", scheme[0], open)
		}
	}
	if len(ports) != 2 {
		t.Errorf("ports of mail servers: %v", ports)
	}
}

// A worker more comes for as many jobs as it has slots.
func TestScaling(t *testing.T) {
	t.Parallel()
	all := render(t, "service")
	args := all.deployments["bgremove-worker"].Spec.Template.Spec.Containers[0].Args
	slots := args[slices.Index(args, "--slots")+1]
	if jobs := all.scaled["bgremove-worker"].Spec.Triggers[0].Metadata["targetQueryValue"]; jobs != slots {
		t.Errorf("a worker of %s slots for %s jobs", slots, jobs)
	}
}

// The pods' user is that of the image, and none can gain rights or write to its image.
func TestServicePods(t *testing.T) {
	t.Parallel()
	user := imageUser(t)
	for name, d := range render(t, "gpu").deployments {
		pod := d.Spec.Template.Spec
		if got := strconv.FormatInt(*pod.SecurityContext.RunAsUser, 10); got != user {
			t.Errorf("%s runs as %s, not as the image's user %s", name, got, user)
		}
		if s := pod.SecurityContext; !*s.RunAsNonRoot || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || *pod.AutomountServiceAccountToken {
			t.Errorf("%s may be root, has no seccomp profile or the cluster's token", name)
		}
		if len(pod.Containers) != 1 || pod.Containers[0].Image == "" {
			t.Errorf("%s has other containers than those that rights.yaml names: %v", name, pod.Containers)
		}
		c := pod.Containers[0]
		if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Contains(s.Capabilities.Drop, "ALL") {
			t.Errorf("%s has rights: %v", name, s)
		}
		if c.LivenessProbe.HTTPGet.Path != "/healthz" {
			t.Errorf("%s is alive by %s", name, c.LivenessProbe.HTTPGet.Path)
		}
		gpus := c.Resources.Limits["nvidia.com/gpu"]
		if wants := name == "bgremove-worker"; wants != (gpus.Value() == 1) {
			t.Errorf("%s has %d GPUs", name, gpus.Value())
		}
	}
}
