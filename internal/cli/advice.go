package cli

import "github.com/bgremove/bgremove/pkg/bgremove"

// advices are remedies for a warning, by the method of the result.
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

// advice is a remedy for a warning, or empty if there is none.
func advice(code bgremove.WarningCode, method bgremove.Method) string {
	if try := advices[method][code]; try != "" {
		return "; try " + try
	}
	return ""
}
