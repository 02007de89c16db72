package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

// goreleaser is the version that builds the binaries. The workflow contains it too.
const goreleaser = "v2.18.2"

// binaries builds the binaries of the release with goreleaser, without publishing them, and runs those for this system.
func (s *stage) binaries(ctx context.Context) {
	s.git(ctx, "remote", "add", "origin", "https://"+root)
	s.git(ctx, "checkout", "--quiet", s.next)
	skip := "--skip=publish,announce"
	if _, err := exec.LookPath("syft"); err != nil {
		fmt.Println("MISSING: syft, so the software bills of materials (SBOM) of the binaries were not built")
		skip += ",sbom"
	}
	env := []string{"GORELEASER_CURRENT_TAG=" + s.next} // not s.alone, because goreleaser reads the origin from git
	args := []string{"run", "github.com/goreleaser/goreleaser/v2@" + goreleaser, "release", "--clean", "--parallelism=2", skip}
	command(ctx, s.repo, env, "go", args...)
	for _, m := range commands() {
		name := path.Base(m.command)
		files := try.Get(filepath.Glob(filepath.Join(s.repo, "dist", name+"_"+runtime.GOOS+"_"+runtime.GOARCH+"*", name+"*")))
		if len(files) != 1 {
			try.Failf("%s has %d binaries for this system, want 1", name, len(files))
		}
		s.checkVersion(ctx, files[0])
	}
	packReleased(ctx, s.repo, s.next)
}

// packReleased packs the npm packages with the binaries in dist, which goreleaser has built, into dist/npm, and adds them to
// dist/checksums.txt.
func packReleased(ctx context.Context, repo, version string) {
	binaries := try.Get(filepath.Glob(filepath.Join(repo, "dist", "mockserver_*", "mockserver*")))
	const systems = 6 // systems in .goreleaser.yaml
	if len(binaries) != systems {
		try.Failf("dist has binaries for %d systems, want %d", len(binaries), systems)
	}
	to := filepath.Join(repo, "dist", "npm")
	pack(ctx, repo, version, to, binaries)
	addChecksums(filepath.Join(repo, "dist", "checksums.txt"), try.Get(filepath.Glob(filepath.Join(to, "*.tgz"))))
}

// addChecksums adds files to the checksums of goreleaser, in the format of sha256sum.
// A line of an earlier call is replaced.
func addChecksums(list string, files []string) {
	edit(list, func(text string) string {
		for _, file := range files {
			line := fmt.Sprintf("%x  %s\n", sha256.Sum256(try.Get(os.ReadFile(file))), filepath.Base(file))
			old := regexp.MustCompile(`(?m)^[0-9a-f]{64}  ` + regexp.QuoteMeta(filepath.Base(file)) + "\n")
			text = old.ReplaceAllLiteralString(text, "") + line
		}
		return text
	})
}

// pack writes the tarballs of the npm package and of a package for each binary into the directory to.
func pack(ctx context.Context, repo, version, to string, binaries []string) {
	work := try.Get(os.MkdirTemp("", "npm-"))
	defer func() { _ = os.RemoveAll(work) }()
	script := []string{"node", "pack.mjs", strings.TrimPrefix(version, "v"), work}
	for _, binary := range binaries {
		script = append(script, filepath.Dir(binary))
	}
	for _, args := range [][]string{
		{"npm", "ci", "--prefer-offline"},
		{"npm", "run", "build"},
		{"bash", "../.ci/notices", ".", "./mockserver/cmd/mockserver", "notices/mockserver.txt"},
		script,
	} {
		command(ctx, filepath.Join(repo, "npm"), nil, args[0], args[1:]...)
	}
	packages := try.Get(filepath.Glob(filepath.Join(work, "*")))
	try.OK(os.MkdirAll(to, 0o750))
	command(ctx, work, nil, "npm", append([]string{"pack", "--silent", "--pack-destination", to}, packages...)...)
}

// npmProgram starts the mock server in a project that has only the npm package.
const npmProgram = `(async () => {
	const mock = await Mock.start();
	const account = await mock.account();
	console.log((await account.outbox()).length, (await mock.control('GET /_mock/health')).status);
	await mock.stop();
})();
`

// npm packs the npm package with the binary that go install has built, and uses it in an empty project.
func (s *stage) npm(ctx context.Context) {
	if _, err := exec.LookPath("npm"); err != nil {
		fmt.Println("MISSING: npm (Node.js), so the npm package was not built")
		if os.Getenv("CI") == "true" {
			try.OK(err)
		}
		return
	}
	to, home := filepath.Join(s.dir, "npm"), filepath.Join(s.dir, "programs", "npm")
	name := "mockserver" + s.exe
	binary := filepath.Join(s.dir, "mockserver_"+runtime.GOOS+"_"+runtime.GOARCH, name)
	try.OK(os.MkdirAll(filepath.Dir(binary), 0o750))
	try.OK(os.Rename(filepath.Join(s.dir, "bin", name), binary))
	pack(ctx, s.repo, s.next, to, []string{binary})
	tarballs := try.Get(filepath.Glob(filepath.Join(to, "*.tgz")))
	write(home, map[string]string{
		"package.json": "{}\n",
		"main.mjs":     "import {Mock} from '@acme/emailplatform-mock';\n" + npmProgram,
		"main.cjs":     "const {Mock} = require('@acme/emailplatform-mock');\n" + npmProgram,
	})
	// Offline, because the packages for other systems are not published.
	command(ctx, home, nil, "npm", append([]string{"install", "--offline", "--silent"}, tarballs...)...)
	for _, file := range []string{"main.mjs", "main.cjs"} {
		// The platform package must be the only place with a binary.
		if out := command(ctx, home, []string{"MOCKSERVER=", "PATH=" + s.dir}, "node", file); out != "0 ok" {
			try.Failf("%s of the npm package printed %q, want 0 ok", file, out)
		}
	}
	for _, file := range tarballs {
		fmt.Printf("%s: %d kB, works in an empty project\n", filepath.Base(file), try.Get(os.Stat(file)).Size()/1000)
	}
}
