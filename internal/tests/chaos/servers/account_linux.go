package servers

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"

	"example.com/emailplatform/internal/tools/must"
)

// account is the user that runs a server.
type account = syscall.Credential

// unprivileged returns an account without root rights if this process runs as root, and nil otherwise.
func unprivileged() *account {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return &account{Uid: uint32(must.Get(strconv.ParseUint(u.Uid, 10, 32))), Gid: uint32(must.Get(strconv.ParseUint(u.Gid, 10, 32)))}
		}
	}
	must.Failf("the servers cannot run as root, and this machine has no unprivileged user for them")
	return nil
}

func changeOwner(dir string, to *account) error {
	if to == nil {
		return nil
	}
	return os.Chown(dir, int(to.Uid), int(to.Gid))
}

// Bind makes the kernel kill the process of cmd when the calling process ends, even after kill -9.
func Bind(cmd *exec.Cmd) { runAs(cmd, nil) }

// runAs makes the process of cmd run as another user, and makes the kernel kill it when the calling
// process ends.
func runAs(cmd *exec.Cmd, as *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: as}
}
