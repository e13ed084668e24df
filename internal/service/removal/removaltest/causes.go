package removaltest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Causes are all constants of type bgremove.Cause that a Go file declares.
func Causes(t testing.TB, file string) []bgremove.Cause {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []bgremove.Cause
	for _, d := range f.Decls {
		consts, ok := d.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			constant := spec.(*ast.ValueSpec)
			if !isCause(constant.Type) {
				continue
			}
			for _, v := range constant.Values {
				text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, bgremove.Cause(text))
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s declares no cause", file)
	}
	return all
}

func isCause(of ast.Expr) bool {
	switch of := of.(type) {
	case *ast.Ident:
		return of.Name == "Cause"
	case *ast.SelectorExpr:
		return of.Sel.Name == "Cause"
	}
	return false
}
