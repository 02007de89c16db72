package servers

import "syscall"

// bind has the kernel kill the process when this one dies.
func bind(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
