package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// oldNames are exported names, JSON fields, routes and log messages that were renamed, or
// deleted, before the first release.
var oldNames = regexp.MustCompile(`\b(?:` + strings.Join([]string{
	"ErrBadAnswer", "FreshTokens", "CachedTokenSource", "Lookahead", "ImportLeftOut", "LeftOut", "CreateNew", "CreatePending",
	"client[.]AnyID", "client[.]Ptr", "EmailGloballyUnsubscribed", "client[.]EventName",
	"OnResponse", "ImportCSV", "ImportSlice", "ImportAddresses",
	"AfterActing", "after_acting", "SetStart", "_mock/start", "LookupGap", "LookupBucket", "LookupCalendar",
	"RefuseUnknownMembers", "UnknownMembers", "unknown_members", "token_needed", "example_token", "Config[.]Log",
	"webhook[.]Hash", "webhook[.]Secret[{]Key", "mcp[.]Handler", "ErrTxEnd", "HandleLater", "x-answers",
	"client[.]Campaign(?:Delivered|Delivering|Incomplete|Scheduled|Schedule)", "client[.]Contact(?:Import|Status\\w*)",
	"client[.]Contact(?:Active|Bounced|Deleted|Pending|Spam|Suppressed|Unsubscribed)",
	"client[.](?:Email(?:Bounced|Delivered|Error|Queued|Rejected)|Webhook(?:Active|Archived)|Workflow(?:Active|Inactive))",
	"client[.]ImportError", "EmailSuppressed", "ImportReport[.]Left", "BadRow", "Token[{]Token",
	"LimiterOptions[.]Instead", "Request[.]Answer", "[Tt]elemetry[.](?:Observe|Outcome|Handle)",
	"event handled, perhaps twice", "a fault by chance", "platform request is tried again",
}, "|") + `)\b`)

// TestOldNames: no file has a name that was renamed.
func TestOldNames(t *testing.T) {
	texts := []string{".go", ".md", ".js", ".py", ".yaml", ".sh", ".html", ".txt", ""}
	files := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		relative, _ := filepath.Rel(root, file)
		name := filepath.ToSlash(relative)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules" || entry.Name() == "vendor"):
			return fs.SkipDir
		case !entry.Type().IsRegular(), !slices.Contains(texts, filepath.Ext(file)), name == "internal/tests/architecture/names_test.go":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		files++
		for i, line := range strings.Split(string(text), "\n") {
			if old := oldNames.FindString(line); old != "" {
				t.Errorf("%s:%d: %s is an old name", name, i+1, old)
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("%d files were read, error %v", files, err)
	}
}
