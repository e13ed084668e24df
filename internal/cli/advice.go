package cli

import "github.com/bgremove/bgremove/pkg/bgremove"

// advices are what helps against a warning of what a method made.
var advices = map[bgremove.Method]map[bgremove.WarningCode]string{
	bgremove.Fast: {
		bgremove.NothingRemoved: "--method rembg, a wider --tolerance, or --key with its colour",
		bgremove.NothingLeft:    "a narrower --tolerance, or --method rembg",
		bgremove.Halo:           "a wider --tolerance, or --method rembg",
		bgremove.Fragments:      "--method rembg, or a wider --tolerance",
		bgremove.Haze:           "--method rembg",
		bgremove.Flicker:        "--method rembg",
	},
	bgremove.Rembg: {
		bgremove.NothingRemoved: "another --model, or --method fast where the backdrop is of one colour",
		bgremove.NothingLeft:    "another --model, or --method fast where the backdrop is of one colour",
		bgremove.Fragments:      "another --model",
		bgremove.Haze:           "another --model",
		bgremove.Flicker:        "another --model",
	},
}

// advice is what to try after a warning, if anything helps.
func advice(code bgremove.WarningCode, method bgremove.Method) string {
	if try := advices[method][code]; try != "" {
		return "; try " + try
	}
	return ""
}
