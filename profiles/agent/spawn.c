/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fork, arrange, exec, and learn by a pipe that closes itself on exec whether it worked. It waits
 * for nothing else and keeps no list of children. Used by the launcher.
 */
#include "spawn.h"
#include "cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct failure { /* what the child says instead of running the program */
	int code;
	char step[60];
};

static void child_fails(int fd, const char *step)
{
	struct failure f = {.code = errno};
	snprintf(f.step, sizeof(f.step), "%s", step);
	if (write(fd, &f, sizeof(f)) != sizeof(f)) {
		_exit(126);
	}
	_exit(127);
}

int spawn_isolate_mounts(const char *const paths[])
{
	if (unshare(CLONE_NEWNS)) {
		return -errno;
	}
	if (mount("", "/", "none", MS_SLAVE | MS_REC, NULL) == 0) {
		return 0;
	}
	/* EINVAL: in a chroot / is no mount. Then what is mounted over has to be one. */
	for (size_t i = 0; errno == EINVAL && paths[i]; i++) {
		if (mount("", paths[i], "none", MS_SLAVE | MS_REC, NULL)) {
			return -errno;
		}
		errno = EINVAL;
	}
	return errno == EINVAL ? 0 : -errno;
}

/* After a plain setns /sys still shows the devices of the namespace in which it was mounted. Mounts
 * follow those of the machine (slave), so that a namespace's name can be taken away. */
static const char *enter_netns(int fd)
{
	if (setns(fd, CLONE_NEWNET)) {
		return "cannot enter the network namespace";
	}
	static const char *const TOUCHED[] = {"/sys", NULL};
	int rc = spawn_isolate_mounts(TOUCHED);
	if (rc) {
		errno = -rc;
		return "cannot make a mount namespace";
	}
	if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		return "cannot mount sysfs for the network namespace";
	}
	return NULL;
}

static void default_signals(void)
{
	sigset_t none;
	for (int s = 1; s < NSIG; s++) {
		signal(s, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Never returns. The launcher's death ends what it started: an agent puts back on SIGTERM, and
 * the main process then sees that its agents have gone instead of going on without a launcher. */
static void become(char *const argv[], int netns_fd, int in, int out, int failed, pid_t parent)
{
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent) {
		child_fails(failed, "its parent is gone");
	}
	const char *step = netns_fd >= 0 ? enter_netns(netns_fd) : NULL;
	if (step) {
		child_fails(failed, step);
	}
	/* The pipes are above 2: the launcher holds 0, 1 and 2. */
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || setenv("LC_ALL", "C", 1)) {
		child_fails(failed, "cannot arrange its input and output");
	}
	default_signals();
	execvp(argv[0], argv);
	child_fails(failed, "");
}

static int await_exec(int fd, const char *program, pid_t pid, struct err *e)
{
	struct failure f;
	ssize_t n;
	while ((n = read(fd, &f, sizeof(f))) < 0 && errno == EINTR) {
	}
	if (n == 0) {
		return 0;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
	if (n != sizeof(f)) {
		return err_set(e, -EIO, "cannot start %s", program);
	}
	return err_set(e, f.code, "cannot start %s: %s%s%s", program, f.step, f.step[0] ? ": " : "",
		       strerror(f.code));
}

int spawn_program(char *const argv[], int netns_fd, struct spawned *out, struct err *e)
{
	int to[2], from[2], failed[2];
	if (pipe2(to, O_CLOEXEC)) {
		return err_set(e, errno, "pipe: %s", strerror(errno));
	}
	auto_close int child_in = to[0];
	auto_close int in = to[1];
	if (pipe2(from, O_CLOEXEC)) {
		return err_set(e, errno, "pipe: %s", strerror(errno));
	}
	auto_close int child_out = from[1];
	auto_close int our_out = from[0];
	if (pipe2(failed, O_CLOEXEC)) {
		return err_set(e, errno, "pipe: %s", strerror(errno));
	}
	auto_close int verdict = failed[0];
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		become(argv, netns_fd, child_in, child_out, failed[1], parent);
	}
	close(failed[1]);
	if (pid < 0) {
		return err_set(e, errno, "fork: %s", strerror(errno));
	}
	setpgid(pid, pid); /* also here: a signal to the group may come before the child runs */
	int rc = await_exec(verdict, argv[0], pid, e);
	if (rc == 0) {
		*out = (struct spawned){.pid = pid, .in = take_fd(in), .out = take_fd(our_out)};
	}
	return rc;
}
