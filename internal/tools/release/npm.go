package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// npmTargets are the systems of the binaries, as Go and as Node.js name them.
func npmTargets() map[string][2]string {
	return map[string][2]string{
		"linux/amd64": {"linux", "x64"}, "linux/arm64": {"linux", "arm64"}, "darwin/amd64": {"darwin", "x64"},
		"darwin/arm64": {"darwin", "arm64"}, "windows/amd64": {"win32", "x64"}, "windows/arm64": {"win32", "arm64"},
	}
}

// packReleased packs the npm packages with the binaries in dist, which goreleaser has built, into dist/npm.
func packReleased(ctx context.Context, repo, version string) error {
	repo, err := filepath.Abs(repo)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(repo, "dist", "mockserver_*", "mockserver*"))
	if err != nil {
		return err
	}
	binaries := map[string]string{}
	for _, file := range files {
		target, err := targetOf(file)
		if err != nil {
			return err
		}
		binaries[target] = file
	}
	if len(binaries) != len(npmTargets()) {
		return fmt.Errorf("dist has binaries for %d systems, want %d", len(binaries), len(npmTargets()))
	}
	return pack(ctx, repo, version, filepath.Join(repo, "dist", "npm"), binaries)
}

func targetOf(binary string) (string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", err
	}
	built := map[string]string{}
	for _, s := range info.Settings {
		built[s.Key] = s.Value
	}
	return built["GOOS"] + "/" + built["GOARCH"], nil
}

// pack writes the tarballs of the npm package and of a package for each binary into the directory to.
func pack(ctx context.Context, repo, version, to string, binaries map[string]string) error {
	source := filepath.Join(repo, "npm")
	for _, args := range [][]string{{"ci", "--prefer-offline"}, {"run", "build"}} {
		if _, err := command(ctx, source, nil, "npm", args...); err != nil {
			return err
		}
	}
	notices := []string{".ci/notices", ".", "./mockserver/cmd/mockserver", "notices/mockserver.txt"}
	if _, err := command(ctx, repo, nil, "bash", notices...); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "npm-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	m, err := readManifest(source)
	if err != nil {
		return err
	}
	m.Version = strings.TrimPrefix(version, "v")
	err = mainPackage(source, filepath.Join(work, "main"), m)
	for target, binary := range binaries {
		err = errors.Join(err, platformPackage(repo, work, m, target, binary))
	}
	if err = errors.Join(err, os.MkdirAll(to, 0o750)); err != nil {
		return err
	}
	dirs, err := filepath.Glob(filepath.Join(work, "*"))
	if err != nil {
		return err
	}
	_, err = command(ctx, work, nil, "npm", append([]string{"pack", "--silent", "--pack-destination", to}, dirs...)...)
	return err
}

// manifest is the part of package.json that all packages share.
type manifest struct {
	Name       string                     `json:"name"`
	Version    string                     `json:"version"`
	License    string                     `json:"license"`
	Repository json.RawMessage            `json:"repository"` // npm compares it with the workflow that publishes
	whole      map[string]json.RawMessage // keeps the order of exports, which matters
}

func readManifest(source string) (m manifest, err error) {
	text, err := os.ReadFile(filepath.Join(source, "package.json"))
	if err != nil {
		return m, err
	}
	return m, errors.Join(json.Unmarshal(text, &m), json.Unmarshal(text, &m.whole))
}

// mainPackage creates the npm package in dir. It sets the version and adds the platform packages of the same version as
// optional dependencies. npm installs only the package for the user's system.
func mainPackage(source, dir string, m manifest) (err error) {
	optional := map[string]string{}
	for _, t := range npmTargets() {
		optional[m.Name+"-"+t[0]+"-"+t[1]] = m.Version
	}
	delete(m.whole, "devDependencies")
	delete(m.whole, "scripts")
	for key, value := range map[string]any{"version": m.Version, "optionalDependencies": optional} {
		if m.whole[key], err = json.Marshal(value); err != nil {
			return err
		}
	}
	return errors.Join(
		os.CopyFS(filepath.Join(dir, "dist"), os.DirFS(filepath.Join(source, "dist"))),
		copyFile(filepath.Join(source, "README.md"), filepath.Join(dir, "README.md")),
		copyFile(filepath.Join(source, "..", "LICENSE"), filepath.Join(dir, "LICENSE")),
		writeJSON(dir, m.whole),
	)
}

// platformPackage creates the package with the binary for one system.
func platformPackage(repo, work string, m manifest, target, binary string) error {
	node, ok := npmTargets()[target]
	if !ok {
		return fmt.Errorf("%s: there is no npm package for %s", binary, target)
	}
	m.Name += "-" + node[0] + "-" + node[1]
	dir := filepath.Join(work, node[0]+"-"+node[1])
	file := filepath.Join(dir, "bin", filepath.Base(binary))
	return errors.Join(
		copyFile(binary, file), os.Chmod(file, 0o755), //nolint:gosec // everyone runs it
		copyFile(filepath.Join(repo, "LICENSE"), filepath.Join(dir, "LICENSE")),
		copyFile(filepath.Join(repo, "notices", "mockserver.txt"), filepath.Join(dir, "NOTICES.txt")),
		writeJSON(dir, struct {
			manifest
			Description string   `json:"description"`
			OS          []string `json:"os"`
			CPU         []string `json:"cpu"`
			Unplugged   bool     `json:"preferUnplugged"` // Yarn cannot run a file in an archive
		}{m, "The mock server of the email platform for " + node[0] + "-" + node[1], node[:1], node[1:], true}),
	)
}

func writeJSON(dir string, manifest any) error {
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	return write(dir, map[string]string{"package.json": string(text) + "\n"})
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
func (s *stage) npm(ctx context.Context) error {
	if _, err := exec.LookPath("npm"); err != nil {
		fmt.Println("MISSING: npm (Node.js), needed for the npm package: it was not made")
		if os.Getenv("CI") == "true" {
			return err
		}
		return nil
	}
	to, home := filepath.Join(s.dir, "npm"), filepath.Join(s.dir, "programs", "npm")
	binary := filepath.Join(s.dir, "bin", "mockserver"+executable())
	if err := pack(ctx, s.repo, s.next, to, map[string]string{runtime.GOOS + "/" + runtime.GOARCH: binary}); err != nil {
		return err
	}
	tarballs, err := filepath.Glob(filepath.Join(to, "*.tgz"))
	if err != nil {
		return err
	}
	if err := write(home, map[string]string{
		"package.json": "{}\n",
		"main.mjs":     "import {Mock} from '@acme/emailplatform-mock';\n" + npmProgram,
		"main.cjs":     "const {Mock} = require('@acme/emailplatform-mock');\n" + npmProgram,
	}); err != nil {
		return err
	}
	// Offline, because the packages for other systems exist nowhere.
	if _, err := command(ctx, home, nil, "npm", append([]string{"install", "--offline", "--silent"}, tarballs...)...); err != nil {
		return err
	}
	for _, file := range []string{"main.mjs", "main.cjs"} {
		// The platform package must be the only place with a binary.
		out, err := command(ctx, home, []string{"MOCKSERVER=", "PATH=" + s.dir}, "node", file)
		if err != nil {
			return err
		}
		if out != "0 ok" {
			return fmt.Errorf("%s of the npm package printed %q, want 0 ok", file, out)
		}
	}
	for _, file := range tarballs {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d kB, works in an empty project\n", filepath.Base(file), info.Size()/1000)
	}
	return nil
}
