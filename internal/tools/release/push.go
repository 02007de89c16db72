package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// push tags the commit of the checkout in dir as a version of all modules, and pushes the tags to origin one at a time,
// because GitHub starts no workflow for more than three tags that are pushed together. The tag of the root starts the
// workflow, which requires the other tags, so it comes last. After a failure the same call continues.
func push(ctx context.Context, dir, next string) error {
	if !version.MatchString(next) {
		return fmt.Errorf("%q is not a version like v0.2.0", next)
	}
	changes, err := command(ctx, dir, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("the checkout has changes that are not committed:\n%s", changes)
	}
	there, err := command(ctx, dir, nil, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	if err := required(ctx, dir, next); err != nil {
		return err
	}
	modules := published()
	for _, m := range modules {
		tag := m.tag(next)
		if slices.Contains(strings.Split(there, "\n"), tag) {
			continue
		}
		if _, err := command(ctx, dir, nil, "git", "tag", "--annotate", "--message", next, tag); err != nil {
			return err
		}
	}
	for _, m := range slices.Concat(modules[1:], modules[:1]) {
		if _, err := command(ctx, dir, nil, "git", "push", "origin", "refs/tags/"+m.tag(next)); err != nil {
			return err
		}
		fmt.Println("pushed", m.tag(next))
	}
	return nil
}
