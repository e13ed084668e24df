// Package kubernetes has no code, only tests of the manifests here. It is a module of
// its own, because the program needs no Kubernetes.
package kubernetes
