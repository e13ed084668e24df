package bgremove

import (
	"github.com/bgremove/bgremove/internal/scene"
	"github.com/bgremove/bgremove/pkg/option"
)

// sceneOf is what stands behind the subject, or nil where that is a colour or
// nothing.
func sceneOf(b option.Backing) scene.Scene {
	if b.Blur != nil {
		return scene.Blur{Radius: b.Blur.Radius}
	}
	return nil
}
