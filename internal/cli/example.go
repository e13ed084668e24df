package cli

// examples are those of commands whose definitions have none, by the command's
// path. The first of several is the commonest use.
var examples = map[string]string{
	"probe":   "bgremove probe clip.mov\nbgremove probe clip.mov --json | jq .credits",
	"doctor":  "bgremove doctor",
	"version": "bgremove version\nbgremove version --licences",
	"help":    "bgremove help remove",

	"models list":   "bgremove models list",
	"models pull":   "bgremove models pull u2netp\nbgremove models pull isnet-general-use --from https://mirror.example/models",
	"models import": "bgremove models import portrait.onnx\nbgremove models import u2netp.onnx --name u2netp",
	"models export": "bgremove models export u2netp /media/stick",
	"models verify": "bgremove models verify\nbgremove models verify u2netp",
	"models remove": "bgremove models remove u2netp",

	"client status": "bgremove client status job_06dwb6z7mc3qjk8v1r5t9x2wne",
	"client wait":   "bgremove client wait job_06dwb6z7mc3qjk8v1r5t9x2wne",
	"client cancel": "bgremove client cancel job_06dwb6z7mc3qjk8v1r5t9x2wne",

	"admin account":         "bgremove admin account create ann@example.com --credits 100",
	"admin account create":  "bgremove admin account create ann@example.com --credits 100",
	"admin account list":    "bgremove admin account list",
	"admin account show":    "bgremove admin account show ann@example.com",
	"admin account reset":   "bgremove admin account reset ann@example.com",
	"admin account suspend": "bgremove admin account suspend ann@example.com",
	"admin account resume":  "bgremove admin account resume ann@example.com",
	"admin account delete":  "bgremove admin account delete ann@example.com",
	"admin key":             "bgremove admin key create ann@example.com --name ci",
	"admin key create":      "bgremove admin key create ann@example.com --name ci",
	"admin key list":        "bgremove admin key list ann@example.com",
	"admin key revoke":      "bgremove admin key revoke key_06dwb6z7mc3qjk8v1r5t9x2wne",
	"admin credits":         "bgremove admin credits grant ann@example.com 100",
	"admin credits grant":   "bgremove admin credits grant ann@example.com 100\nbgremove admin credits grant ann@example.com --plan light",
	"admin credits take":    "bgremove admin credits take ann@example.com 100",
	"admin credits show":    "bgremove admin credits show ann@example.com",
	"admin credits verify":  "bgremove admin credits verify",
	"admin storage":         "bgremove admin storage adopt",
	"admin storage adopt":   "bgremove admin storage adopt",
	"admin backup":          "bgremove admin backup /backup/monday",
	"admin restore":         "bgremove admin restore /backup/monday",
	"admin verify":          "bgremove admin verify",

	"completion":            "bgremove completion bash",
	"completion bash":       "bgremove completion bash >~/.local/share/bash-completion/completions/bgremove",
	"completion zsh":        "bgremove completion zsh >~/.zfunc/_bgremove",
	"completion fish":       "bgremove completion fish >~/.config/fish/completions/bgremove.fish",
	"completion powershell": "bgremove completion powershell | Out-String | Invoke-Expression",
}
