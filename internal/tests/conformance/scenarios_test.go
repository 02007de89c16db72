package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// TestScenarios runs the scenarios in testdata/scenarios, each on a new server. The language:
//
//	== title                      starts a scenario
//	| $name | $status |           runs the scenario once for each row below, with the values of the row
//	| ada   | active  |
//	proves id decision/5/*        the pieces that the scenario proves
//	POST /lists {"name":"News"}   a request; "other GET /lists" sends it with the token of another account
//	201 {"list_id":$list, …}      the response: … allows further fields, and a new $name stores a value
//	201 $created = {"id":1}       the same, and stores the whole body
//	204                           a response without a body
//	422 missing body.name "part"  an error of this type at this location, with this part of the message
//	200 email: ada bob            the values of one field of each item of a page
//	200 text <p>Hello</p>         a body that is not JSON; "200 has text" compares a part of the body
//	Retry-After: 1                a header field of the response
//	fires Email.Bounced {…}       exactly these events since the last statement of this kind, in any order
//	message {…}                   the newest message; "outbox" checks the recipients of all messages
//	wait 1s                       advances the time
//
// If a request has no expected status, it must succeed. An indented line continues the statement above it. The
// statements before the first title run at the start of each scenario. A statement other than a request begins with a
// command, such as fires or wait (see var commands).
func TestScenarios(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("testdata", "scenarios")) // so that an editor can open the files in a failure
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			before, scenarios := parseScenarios(file, string(text))
			if len(scenarios) == 0 {
				t.Fatal("no scenarios")
			}
			for _, s := range scenarios {
				runScenario(t, s.title, before, s.statements)
			}
		})
	}
	for _, event := range eventNames() {
		if !strings.Contains(all.String(), event+" {") {
			t.Errorf("no scenario checks the body of %s", event)
		}
	}
}

type scenario struct {
	title      string
	statements []statement
}

type statement struct {
	at   string // file and line
	text string
}

// parseScenarios returns the statements before the first title, and the scenarios. It joins continued lines and removes
// comments.
func parseScenarios(file, text string) (before []statement, scenarios []scenario) {
	into := &before
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		last := len(*into) - 1
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || line[0] == '#':
		case strings.HasPrefix(line, "== "):
			scenarios = append(scenarios, scenario{title: strings.TrimPrefix(line, "== ")})
			into = &scenarios[len(scenarios)-1].statements
		case line != strings.TrimLeft(line, " ") && last >= 0:
			(*into)[last].text += " " + trimmed
		default:
			*into = append(*into, statement{fmt.Sprintf("%s:%d", file, number), trimmed})
		}
	}
	return before, scenarios
}

// runScenario runs a scenario, once for each row of its table if it has one.
func runScenario(t *testing.T, title string, before, statements []statement) {
	var names []string
	rows := [][]string{nil}
	for len(statements) > 0 && statements[0].text[0] == '|' {
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(statements[0].text, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		if names == nil {
			names, rows = cells, nil
		} else {
			rows = append(rows, cells)
		}
		statements = statements[1:]
	}
	if len(rows) == 0 {
		t.Fatalf("%s: the table has no rows", title)
	}
	for _, row := range rows {
		if len(row) != len(names) {
			t.Fatalf("%s: the row %q must have %d cells", title, row, len(names))
		}
		t.Run(title+" "+strings.Join(row, " "), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := setup(t, recordEvents)
				s := &scenarioRun{fixture: f, vars: probe.Captures{
					"shop": shop, "greeting": greeting, "design": design, "owner": ownerUser, "nobody": noUser, "url": f.URL(),
				}}
				var replacements []string
				for i, name := range names {
					replacements = append(replacements, name, row[i])
				}
				var current statement
				defer func() {
					if t.Failed() {
						t.Logf("%s: the test failed at: %s", current.at, strings.NewReplacer(replacements...).Replace(current.text))
					}
				}()
				for _, current = range slices.Concat(before, statements) {
					if s.run(strings.NewReplacer(replacements...).Replace(current.text)); t.Failed() {
						t.FailNow()
					}
				}
				s.settle()
			})
		})
	}
}

// scenarioRun is a running scenario.
type scenarioRun struct {
	*fixture
	vars      probe.Captures
	last      probe.Response
	unchecked bool // whether no statement has checked the last response
}

var (
	responseLine = regexp.MustCompile(`^(\d{3})(?: (?:\$(\w+) = )?(.*))?$`)
	headerLine   = regexp.MustCompile(`^([A-Z][\w-]+):(.*)$`)
	requestLine  = regexp.MustCompile(`^(?:(\w+) )?(GET|POST|PATCH|PUT|DELETE) (\S+)(?: (.*))?$`)
	reactionLine = regexp.MustCompile(`^(bounce|complain|open|click|unsubscribe|global-unsubscribe|confirm) (\S+)(?: (.*))?$`)
	columnLine   = regexp.MustCompile(`^(\w+):(.*)$`)
	errorLine    = regexp.MustCompile(`^([a-z_]+)(?: ([a-z]+[\w.$-]*))?(?: "(.*)")?$`)
	others       = regexp.MustCompile(`…(\})`)
	variable     = regexp.MustCompile(`\$([a-z_]+)`)
)

// tokens contains the access token of each user that a request can name.
var tokens = map[string]string{
	"": owner, "owner": owner, "same": sameOwner, "other": otherAccount, "colleague": colleague, "reader": reader,
	"anyone": "", "later": "token-of-later",
}

func (s *scenarioRun) run(statement string) {
	if m := responseLine.FindStringSubmatch(statement); m != nil {
		s.check(s.last, m[1], m[3])
		if m[2] != "" {
			s.vars[m[2]] = strings.TrimSpace(s.last.Body)
		}
		s.unchecked = false
		return
	}
	if m := headerLine.FindStringSubmatch(statement); m != nil {
		assert.Equal(s, s.filled(strings.TrimSpace(m[2])), s.last.Header.Get(m[1]), m[1])
		return
	}
	s.settle()
	if m := requestLine.FindStringSubmatch(statement); m != nil {
		s.request(tokens[m[1]], m[2], strings.TrimPrefix(s.filled(m[3]), s.URL()), s.filled(m[4]))
		return
	}
	if m := reactionLine.FindStringSubmatch(statement); m != nil {
		s.request(owner, "POST", "/_mock/outbox/"+s.filled(m[2])+"/"+m[1], s.filled(m[3]))
		return
	}
	name, args, _ := strings.Cut(statement, " ")
	command := commands[name]
	if command == nil {
		s.Fatalf("unknown statement: %s", statement)
	}
	command(s, args)
}

func (s *scenarioRun) request(token, method, path, body string) {
	s.Helper()
	req := s.As(token).Request(method, path, body)
	if strings.HasPrefix(body, "List-Unsubscribe=") {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	s.last, s.unchecked = s.Send(req), true
}

// settle checks that the last request succeeded, if no statement has checked it.
func (s *scenarioRun) settle() {
	if s.unchecked {
		s.last.OK()
	}
	s.unchecked = false
}

// filled replaces the variables of a text.
func (s *scenarioRun) filled(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		value, known := s.vars[name[1:]]
		if !known {
			s.Fatalf("%s has no value in %s", name, text)
		}
		return value
	})
}

// pattern replaces the variables of a pattern with their values. A variable without a value matches any string, or
// any integer if it is not in quotes, and stores the matched value.
func (s *scenarioRun) pattern(text string) string {
	text = others.ReplaceAllString(text, `"…":0$1`)
	var out strings.Builder
	at := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[at:m[0]])
		name := text[m[2]:m[3]]
		value, known := s.vars[name]
		switch {
		case known:
			out.WriteString(value)
		case text[m[0]-1] == '"':
			out.WriteString("<string:" + name + ">")
		default:
			out.WriteString(`"<integer:` + name + `>"`)
		}
		at = m[1]
	}
	out.WriteString(text[at:])
	return out.String()
}

// check compares a response with the text of an expectation.
func (s *scenarioRun) check(response probe.Response, status, expected string) {
	s.Helper()
	if got := http.StatusText(response.Status); fmt.Sprintf("%d", response.Status) != status {
		s.Fatalf("%s: status %d %s, want %s: %s", response.Request, response.Status, got, status, response.Body)
	}
	if text, isText := strings.CutPrefix(expected, "text "); isText {
		assert.Equal(s, text, response.Body, response.Request)
	} else if text, isPart := strings.CutPrefix(expected, "has "); isPart {
		s.contains(response, s.filled(text))
	} else if m := errorLine.FindStringSubmatch(expected); m != nil {
		response.Problem(response.Status, m[1], s.filled(m[2]))
		s.contains(response, m[3])
	} else if m := columnLine.FindStringSubmatch(expected); m != nil {
		assert.Equal(s, strings.TrimSpace(s.filled(m[2])), strings.Join(response.Column(m[1]), " "), response.Request)
	} else if expected == "" {
		response.Is(response.Status, "")
	} else {
		s.matches(response.Request, response.JSON(), s.pattern(expected))
	}
}

func (s *scenarioRun) contains(response probe.Response, text string) {
	s.Helper()
	if !strings.Contains(response.Body, text) {
		s.Errorf("%s: got %s, want a body that contains %s", response.Request, response.Body, text)
	}
}

// matches compares a value with a pattern and stores the captured values.
func (s *scenarioRun) matches(what string, got any, pattern string) {
	s.Helper()
	for _, m := range s.vars.Mismatches(got, pattern) {
		s.Errorf("%s: %s", what, m)
	}
}

// commands are the statements other than requests. A name such as $list in the arguments stores the id of the new
// record.
var commands = map[string]func(s *scenarioRun, args string){
	"proves": func(s *scenarioRun, args string) {
		pieces, err := pieceList()
		require.NoError(s, err)
		for pattern := range strings.FieldsSeq(s.filled(args)) {
			matched := false
			for _, p := range pieces {
				if ok, _ := path.Match(pattern, p.id); ok {
					matched = true
					proves(s, p.id)
				}
			}
			if !matched {
				s.Errorf("pieces.txt has no %s", pattern)
			}
		}
	},
	// server OPTION… starts another server, which the following statements use.
	"server": func(s *scenarioRun, args string) {
		s.fixture = setup(s.TB, func(cfg *mockserver.Config) {
			cfg.SkipValidation = strings.Contains(args, "skips validation")
			cfg.RejectUnknownFields = strings.Contains(args, "rejects unknown fields")
		}, recordEvents)
	},
	"wait": func(s *scenarioRun, args string) {
		d, err := time.ParseDuration(args)
		require.NoError(s, err)
		time.Sleep(d)
	},
	"list":       func(s *scenarioRun, args string) { s.store(args, s.list()) },
	"closedlist": func(s *scenarioRun, args string) { s.store(args, s.closedList()) },
	"campaign":   func(s *scenarioRun, args string) { s.create(args, (*fixture).campaign) },
	"workflow":   func(s *scenarioRun, args string) { s.create(args, (*fixture).workflow) },
	// member $id LIST ADDRESS STATUS adds a contact, unless its status is "absent".
	"member": func(s *scenarioRun, args string) {
		arg := strings.Fields(args)
		if arg[3] == "absent" {
			return
		}
		var list int64
		require.NoError(s, json.Unmarshal([]byte(s.filled(arg[1])), &list))
		s.store(arg[0], s.member(list, s.filled(arg[2]), s.filled(arg[3])))
	},
	// send SENDING sends an email to Ada, and stores the ids in $id, $list, $contact, $campaign and $workflow.
	"send": func(s *scenarioRun, args string) {
		name := s.filled(args)
		i := slices.IndexFunc(sendings, func(way sending) bool { return way.name == name })
		done := sendings[i].send(s.fixture)
		s.vars["id"] = done.id
		s.store("list", done.list)
		s.store("contact", done.contact)
		s.store("campaign", done.campaign)
		s.store("workflow", done.workflow)
	},
	"webhook": func(s *scenarioRun, args string) {
		name, events, _ := strings.Cut(args, " ")
		s.vars[strings.TrimPrefix(name, "$")] = s.listen(strings.Fields(events)...)
	},
	"outbox": func(s *scenarioRun, args string) {
		require.NoError(s, s.Wait(s.Context()))
		assert.Equal(s, s.filled(args), s.recipients(), "the outbox")
	},
	"message": func(s *scenarioRun, args string) {
		s.matches("the message", s.Get("/_mock/outbox/"+s.lastMessage().ID).JSON(), s.pattern(args))
	},
	"fires": (*scenarioRun).fires,
}

// fires checks the events since the last statement of this kind. args contains their names, each with or without a
// pattern of the body.
func (s *scenarioRun) fires(args string) {
	var names, patterns []string
	for args = strings.TrimSpace(s.pattern(args)); args != ""; args = strings.TrimSpace(args) {
		name, rest, _ := strings.Cut(args, " ")
		names, patterns, args = append(names, name), append(patterns, ""), strings.TrimSpace(rest)
		if strings.HasPrefix(args, "{") {
			var pattern json.RawMessage
			decoder := json.NewDecoder(strings.NewReader(args))
			require.NoError(s, decoder.Decode(&pattern))
			patterns[len(patterns)-1], args = string(pattern), args[decoder.InputOffset():]
		}
	}
	for i, d := range s.fixture.fires(names...) {
		if patterns[i] != "" {
			s.matches(d.event, d.body, patterns[i])
		}
	}
}

func (s *scenarioRun) store(name string, id int64) {
	s.vars[strings.TrimPrefix(name, "$")] = fmt.Sprintf("%d", id)
}

// create creates a record of a list, as in "campaign $id $list".
func (s *scenarioRun) create(args string, create func(f *fixture, list int64) int64) {
	name, list, _ := strings.Cut(args, " ")
	var id int64
	require.NoError(s, json.Unmarshal([]byte(s.filled(list)), &id))
	s.store(name, create(s.fixture, id))
}
