package bgremove

import (
	"github.com/bgremove/bgremove/internal/scene"
	"github.com/bgremove/bgremove/pkg/option"
)

// sceneOf is what stands behind the subject, or nil where that is a colour or
// nothing.
func sceneOf(b option.Backing) scene.Scene {
	switch {
	case b.Blur != nil:
		return scene.Blur{Radius: b.Blur.Radius}
	case b.Gradient != nil:
		return scene.Gradient(b.Gradient.From, b.Gradient.To, b.Gradient.Angle)
	}
	return nil
}
