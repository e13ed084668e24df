package ortlib

import (
	"errors"
	"fmt"
)

// ErrPlatform means that no library is published for a system.
var ErrPlatform = errors.New("no library is published for this system")

const (
	releaseURL = "https://github.com/microsoft/onnxruntime/releases/download/v" + Version
	// npmPackage carries the libraries of all systems in one archive.
	npmPackage = "onnxruntime-node"
	npmArchive = npmPackage + "-" + Version + ".tgz"
	npmDigest  = "6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75"
)

// build is the published library for one system.
type build struct {
	// archive is that of the official release, and digest is stated by the
	// release.
	archive, digest string
	// npmLibrary is the path in the npm archive, and npmLibraryDigest the
	// library's digest.
	npmLibrary, npmLibraryDigest string
}

// builds are the builds of Version by GOOS/GOARCH.
var builds = map[string]build{
	"linux/amd64": {
		"onnxruntime-linux-x64-" + Version + ".tgz", "a5ed5a3cac51fbb2e90da632ae43d19212faaa20e76484e62bcb7c23ddb3b3fd",
		"package/bin/napi-v6/linux/x64/libonnxruntime.so.1", "ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23",
	},
	"linux/arm64": {
		"onnxruntime-linux-aarch64-" + Version + ".tgz", "e16a27a8ed330bbc698df7330b0cf56e722f354e3bcc92118682c74ef3c3e3da",
		"package/bin/napi-v6/linux/arm64/libonnxruntime.so.1", "1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76",
	},
	"darwin/arm64": {
		"onnxruntime-osx-arm64-" + Version + ".tgz", "6ebb5062a934537c352937821f9fe9718e7de1a2db1122a93dd363ffd53a7012",
		"package/bin/napi-v6/darwin/arm64/libonnxruntime.1.dylib", "685d2be5dba1309c89d3a5324b7fd06a5c42f1a61bfea32d14c4cc28d072121d",
	},
	"windows/amd64": {
		"onnxruntime-win-x64-" + Version + ".zip", "c6ba983baf5681af108599675d2a89c2d145512d02de28aed0bff177cd0ba949",
		"package/bin/napi-v6/win32/x64/onnxruntime.dll", "508c362f5673483dd3a086379c392795b2e42d10d5e6f3f90ebd7ac21c97af67",
	},
	"windows/arm64": {
		"onnxruntime-win-arm64-" + Version + ".zip", "e53db8a50b23ae35be901cc93428baf997dc8d420333b097b2eae53d3ea9f2d3",
		"package/bin/napi-v6/win32/arm64/onnxruntime.dll", "6c3a2abf5c6aca11c48a0d338a91af309f2266f25ce2e4084e6a87bbcb0fbfd0",
	},
}

// buildFor returns the build for a system, as GOOS/GOARCH.
func buildFor(platform string) (build, error) {
	b, ok := builds[platform]
	if !ok {
		return build{}, fmt.Errorf("ONNX Runtime %s for %s: %w", Version, platform, ErrPlatform)
	}
	return b, nil
}

// knows reports whether a digest belongs to a published file.
func (b build) knows(digest string) bool {
	return digest != "" && (digest == b.digest || digest == npmDigest || digest == b.npmLibraryDigest)
}
