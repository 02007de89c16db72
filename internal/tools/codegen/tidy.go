package main

import (
	"go/format"
	"os"
	"regexp"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

var (
	typeDoc  = regexp.MustCompile(`(?m)^// ([A-Z]\w*) (A|An|The|One|What|Who|Where|Why|Whether|How|Which|When) `)
	anyDoc   = regexp.MustCompile(`(?m)^// ([A-Z]\w*) ([A-Z]\w* .*\ntype )`)
	fieldDoc = regexp.MustCompile("(?m)^(\t+)// ([A-Z]\\w*) ([A-Z`].*(?:\n\t+//.*)*\n\t+(\\w+) )")
	pointer  = regexp.MustCompile("(?m)^(\t+\\w+ +\\*\\w+ +`json:\"\\w+)\"`$")
	unixDoc  = regexp.MustCompile(`(?m)^(\t+// .*), (?:in Unix seconds|as ISO 8601)(.*\n\t+\w+ +time\.Time )`)
	formTag  = regexp.MustCompile(" `form:[^`]*`")

	aliasType = regexp.MustCompile(`(?m)^(?://.*\n)*type (\w+) = (int64|string|bool)\n`)
	codeLine  = regexp.MustCompile(`(?m)^(?:\t\w|func ).*$`)
)

// tidy rewrites generated Go files, given in one call:
//
//   - Comments become sentences: "Contact A member of a list." becomes "Contact is a member of a list.", and the name
//     in front of the comment of a field is removed.
//   - A pointer that is nil is omitted from JSON.
//   - The comment of a time loses the unit that it has in JSON.
//   - Parameters lose the struct tags that nothing reads.
//   - Aliases of basic types, which are made for shared parameters, are replaced by these types.
func tidy(names ...string) {
	aliases := map[string]string{}
	for _, name := range names {
		rewrite(name, func(src []byte) []byte { return comments(inlineAliases(src, aliases)) })
	}
}

// rewrite replaces a Go file by the formatted result of a function.
func rewrite(path string, change func([]byte) []byte) {
	src, err := format.Source(change(try.Get(os.ReadFile(path))))
	if err != nil {
		try.Failf("%s: %w", path, err)
	}
	write(path, src)
}

// comments rewrites the comments of types and fields, and their tags.
func comments(src []byte) []byte {
	src = typeDoc.ReplaceAllFunc(src, func(m []byte) []byte {
		s := typeDoc.FindSubmatch(m)
		word, verb := strings.ToLower(string(s[2])), " is "
		if word == "which" || word == "when" {
			verb = " says "
		}
		return []byte("// " + string(s[1]) + verb + word + " ")
	})
	src = anyDoc.ReplaceAll(src, []byte("// $1: $2"))
	src = pointer.ReplaceAll(src, []byte("$1,omitzero\"`"))
	src = unixDoc.ReplaceAll(src, []byte("$1$2"))
	src = formTag.ReplaceAll(src, nil)
	return fieldDoc.ReplaceAllFunc(src, func(m []byte) []byte {
		s := fieldDoc.FindSubmatch(m)
		if string(s[2]) != string(s[4]) {
			return m
		}
		return []byte(string(s[1]) + "// " + string(s[3]))
	})
}

// inlineAliases adds the aliases that src declares to aliases, and returns src
// without them and their uses.
func inlineAliases(src []byte, aliases map[string]string) []byte {
	for _, m := range aliasType.FindAllSubmatch(src, -1) {
		aliases[string(m[1])] = string(m[2])
	}
	src = aliasType.ReplaceAll(src, nil)
	for name, basic := range aliases {
		use := regexp.MustCompile(`(\w +\*?)` + name + `\b`)
		src = codeLine.ReplaceAllFunc(src, func(line []byte) []byte { return use.ReplaceAll(line, []byte("${1}"+basic)) })
	}
	return src
}

// uncapitalized makes the names of types start with a lower-case letter.
func uncapitalized(src []byte, names []string) []byte {
	for _, name := range names {
		word := regexp.MustCompile(`\b` + name + `\b`)
		src = word.ReplaceAll(src, []byte(strings.ToLower(name[:1])+name[1:]))
	}
	return src
}
