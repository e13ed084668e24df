//go:build race

package client_test

func init() { raced = true }
