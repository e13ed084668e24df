package cli

import "github.com/bgremove/bgremove/internal/model"

// SetCatalogue gives the command line other models than the built-in ones.
func SetCatalogue(models []model.Model) { catalogue = models }
