//go:build unix

package servers

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account is whom a server runs as.
type account struct{ uid, gid uint32 }

// unprivileged returns nil unless this runs as root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // no account is a valid result: keep the current one
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		return &account{uint32(uid), uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func give(dir string, to *account) error {
	if to == nil {
		return nil
	}
	return os.Chown(dir, int(to.uid), int(to.gid))
}

// Bind ends the process when this process ends. On Linux it does so even after kill -9.
func Bind(cmd *exec.Cmd) { own(cmd, nil) }

// own has the process run as another, and die with this one.
func own(cmd *exec.Cmd, as *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
	bind(cmd.SysProcAttr)
}
