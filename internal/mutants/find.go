package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is one small mistake.
type mutant struct {
	number   int
	file     string // its path from the root of the repository
	line     int
	function string
	old, new string // the code, in one line

	fate   fate
	killer string // the tests that failed
}

// key names the mutant in docs/mutation.md: lines move, this does not.
func (m mutant) key() string {
	unquoted := strings.NewReplacer("`", "'") // it stands between backquotes there
	return fmt.Sprintf("`%s` %s: `%s` → `%s`", m.file, m.function, unquoted.Replace(m.old), unquoted.Replace(m.new))
}

func (m mutant) generated() bool { return strings.HasSuffix(m.file, ".gen.go") }

// finder goes through a file, and notes mutants and the edits that put them in.
type finder struct {
	fset  *token.FileSet
	info  *types.Info
	src   []byte
	file  string
	first int // the number of the first mutant

	function string
	around   []ast.Node // from the file to the node
	leaves   map[ast.Expr]bool
	operands map[ast.Expr]token.Token
	mutants  []mutant
	edits    []edit
}

// findMutants returns the mutants of a file, numbered from first, and the file with
// all of them asleep in it.
func findMutants(fset *token.FileSet, info *types.Info, src []byte, file string, tree *ast.File, first int) ([]mutant, []byte) {
	f := &finder{
		fset: fset, info: info, src: src, file: file, first: first,
		leaves: map[ast.Expr]bool{}, operands: map[ast.Expr]token.Token{},
	}
	var exits []func()
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil {
			exits[len(exits)-1]()
			exits = exits[:len(exits)-1]
			f.around = f.around[:len(f.around)-1]
			return true
		}
		if f.constant(n) {
			return false
		}
		exits = append(exits, f.enter(n))
		f.around = append(f.around, n)
		return true
	})
	return f.mutants, f.edited()
}

// constant tells whether nothing in n can be mutated: it must stay a constant, or
// holds no statements.
func (f *finder) constant(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.VAR
	case ast.Expr:
		t := f.info.Types[n]
		return t.Value != nil || t.IsType()
	}
	return false
}

// enter notes the mutants of a node. What it returns is called after those of its
// children.
func (f *finder) enter(n ast.Node) (exit func()) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		f.function = functionName(n)
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			f.cases(n)
		}
	case *ast.BranchStmt:
		f.branch(n)
	case *ast.IncDecStmt:
		f.step(n)
	case *ast.AssignStmt:
		return f.assignment(n)
	case ast.Expr:
		return f.expression(n)
	}
	return func() {}
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		default:
			return types.ExprString(t) + "." + d.Name.Name
		}
	}
}

// condition marks what stands alone in a condition, to be turned round.
func (f *finder) condition(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		f.condition(e.X)
	case *ast.UnaryExpr, *ast.BinaryExpr, nil: // these mark their operands
	default:
		f.leaves[e] = true
	}
}

func (f *finder) cases(s *ast.SwitchStmt) {
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			f.condition(e)
		}
	}
}

// expression notes the mutants of an expression, from the outside in.
func (f *finder) expression(e ast.Expr) (exit func()) {
	var ends []string
	wrap := func(start, end string) {
		f.insert(e.Pos(), start)
		ends = append(ends, end)
	}
	if op, ok := f.operands[e]; ok && f.isBool(e) {
		f.without(e, op, wrap)
	}
	binary, isBinary := e.(*ast.BinaryExpr)
	if f.isBool(e) && (f.leaves[e] || isBinary && negations(binary.Op) != token.ILLEGAL) {
		f.negated(e, wrap)
	}
	var replace func()
	switch e := e.(type) {
	case *ast.BinaryExpr:
		replace = f.binary(e, wrap)
	case *ast.UnaryExpr:
		replace = f.unary(e, wrap)
	}
	return func() {
		if replace != nil {
			replace()
		}
		for _, end := range slices.Backward(ends) {
			f.insert(e.End(), end)
		}
	}
}

// without leaves an operand of && or || out: the other decides alone.
func (f *finder) without(e ast.Expr, op token.Token, wrap func(start, end string)) {
	var b *ast.BinaryExpr
	for _, n := range slices.Backward(f.around) {
		if whole, ok := n.(*ast.BinaryExpr); ok {
			b = whole
			break
		}
	}
	other := b.X
	if ast.Unparen(b.X) == e {
		other = b.Y
	}
	n := f.note(e, f.text(b), f.text(other))
	if op == token.LAND {
		wrap("((", fmt.Sprintf(") || mutantIs(%d))", n))
	} else {
		wrap("((", fmt.Sprintf(") && !mutantIs(%d))", n))
	}
}

// negated turns a condition round.
func (f *finder) negated(e ast.Expr, wrap func(start, end string)) {
	changed := "!(" + f.text(e) + ")"
	if b, ok := e.(*ast.BinaryExpr); ok {
		changed = f.text(b.X) + " " + negations(b.Op).String() + " " + f.text(b.Y)
	} else if _, plain := e.(*ast.Ident); plain {
		changed = "!" + f.text(e)
	}
	wrap("((", fmt.Sprintf(") != mutantIs(%d))", f.note(e, f.text(e), changed)))
}

func negations(op token.Token) token.Token {
	return map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ,
		token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	}[op]
}

// other is an operator and what it becomes: a function of the helpers does either.
type other struct {
	op       token.Token
	function string
}

func others(op token.Token) other {
	return map[token.Token]other{
		token.LSS: {token.LEQ, "mutantLess"}, token.LEQ: {token.LSS, "mutantLessOrEqual"},
		token.GTR: {token.GEQ, "mutantMore"}, token.GEQ: {token.GTR, "mutantMoreOrEqual"},
		token.ADD: {token.SUB, "mutantAdd"}, token.SUB: {token.ADD, "mutantSub"},
		token.MUL: {token.QUO, "mutantMul"}, token.QUO: {token.MUL, "mutantQuo"},
		token.REM: {token.MUL, "mutantRem"},
		token.AND: {token.OR, "mutantAnd"}, token.OR: {token.AND, "mutantOr"},
		token.XOR: {token.AND, "mutantXor"}, token.AND_NOT: {token.AND, "mutantAndNot"},
		token.SHL: {token.SHR, "mutantShl"}, token.SHR: {token.SHL, "mutantShr"},
	}[op]
}

// binary marks the operands of && and ||, and puts another operator in the place of
// the others.
func (f *finder) binary(e *ast.BinaryExpr, wrap func(start, end string)) (replace func()) {
	if e.Op == token.LAND || e.Op == token.LOR {
		for _, operand := range []ast.Expr{e.X, e.Y} {
			f.condition(operand)
			f.operands[ast.Unparen(operand)] = e.Op
		}
		return nil
	}
	to := others(e.Op)
	if to.function == "" || !f.plain(e.X) || !f.plain(e.Y) || f.isString(e.X) && e.Op == token.ADD {
		return nil
	}
	if shift := e.Op == token.SHL || e.Op == token.SHR; shift && f.info.Types[e.X].Value != nil {
		return nil // its type is that of what stands around it
	}
	n := f.note(e, f.text(e), f.text(e.X)+" "+to.op.String()+" "+f.text(e.Y))
	wrap(fmt.Sprintf("%s(%d, ", to.function, n), ")")
	return func() { f.replace(e.OpPos, len(e.Op.String()), ", ") }
}

func (f *finder) unary(e *ast.UnaryExpr, wrap func(start, end string)) (replace func()) {
	switch e.Op {
	case token.NOT:
		f.condition(e.X)
	case token.SUB:
		if f.plain(e.X) {
			wrap(fmt.Sprintf("mutantMinus(%d, ", f.note(e, f.text(e), f.text(e.X))), ")")
			return func() { f.replace(e.OpPos, 1, "") }
		}
	}
	return nil
}

// step makes x++ of x--, and the other way round.
func (f *finder) step(s *ast.IncDecStmt) {
	if !f.plain(s.X) || !simple(s.X) {
		return
	}
	sign, to := "+", "--"
	if s.Tok == token.DEC {
		sign, to = "-", "++"
	}
	n := f.note(s, f.text(s), f.text(s.X)+to)
	f.replace(s.TokPos, 2, fmt.Sprintf(" %s= mutantStep(%d, %s)", sign, n, f.text(s.X)))
}

// assignment puts another operator into x op= y.
func (f *finder) assignment(s *ast.AssignStmt) (exit func()) {
	none := func() {}
	if s.Tok == token.ASSIGN || s.Tok == token.DEFINE {
		return none
	}
	x, y := s.Lhs[0], s.Rhs[0]
	op := s.Tok + (token.ADD - token.ADD_ASSIGN)
	to := others(op)
	if to.function == "" || !f.plain(x) || !simple(x) || f.isString(x) {
		return none
	}
	n := f.note(s, f.text(s), f.text(x)+" "+to.op.String()+"= "+f.text(y))
	f.replace(s.TokPos, len(s.Tok.String()), fmt.Sprintf("= %s(%d, %s, ", to.function, n, f.text(x)))
	return func() { f.insert(s.End(), ")") }
}

// branch makes continue of break, and the other way round, where both mean the same
// loop.
func (f *finder) branch(s *ast.BranchStmt) {
	if s.Label != nil || s.Tok != token.BREAK && s.Tok != token.CONTINUE {
		return
	}
	for _, n := range slices.Backward(f.around) {
		switch n := n.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncDecl, *ast.FuncLit:
			return
		case *ast.ForStmt:
			if s.Tok == token.CONTINUE && n.Cond == nil {
				return // an endless loop that ends does not compile where a function must return
			}
		case *ast.RangeStmt:
		default:
			continue
		}
		to := token.CONTINUE
		if s.Tok == token.CONTINUE {
			to = token.BREAK
		}
		number := f.note(s, s.Tok.String(), to.String())
		f.insert(s.Pos(), fmt.Sprintf("if mutantIs(%d) { %s }; ", number, to))
		return
	}
}

// note adds a mutant and returns its number.
func (f *finder) note(n ast.Node, from, to string) int {
	number := f.first + len(f.mutants)
	f.mutants = append(f.mutants, mutant{
		number: number, file: f.file, line: f.fset.Position(n.Pos()).Line, function: f.function, old: from, new: to,
	})
	return number
}

func (f *finder) isBool(e ast.Expr) bool {
	t := f.info.TypeOf(e)
	return t != nil && (types.Identical(t, types.Typ[types.Bool]) || types.Identical(t, types.Typ[types.UntypedBool]))
}

func (f *finder) isString(e ast.Expr) bool {
	b, ok := f.info.TypeOf(e).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// plain tells whether the helpers can work with the type of e.
func (f *finder) plain(e ast.Expr) bool {
	t := f.info.TypeOf(e)
	if t == nil {
		return false
	}
	if _, parameter := t.(*types.TypeParam); parameter {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat|types.IsString) != 0
}

// simple tells whether an expression may be written twice: it calls nothing.
func simple(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		ok = ok && !call
		return ok
	})
	return ok
}
