/* main.c: casefs, a filesystem that ignores the case of names and keeps it.
 *
 * It serves one directory tree, the store, through FUSE. The order of things: read the command line, open the store, mount, give
 * up privileges, say `ready`, serve requests one by one until a signal comes or the mount is gone. One thread is enough and
 * quicker: a request takes microseconds, and handing it to another thread takes longer.
 *
 *   settings.c      the command line                  requests_*.c   what the kernel asks for, by subject
 *   status.c        what the launcher is told         answers.c      what it is told, and how long it may believe it
 *   privileges.c    capabilities                      nodes.c        files that the kernel knows
 *   errors.c        what callers are told             names.c        names in directories
 *   fold.c          when two names are one            descriptors.c  how nodes are reached
 *   caller.c        renames that change case only     spelling.c     names found by another spelling
 */
#include "requests.h"

#include "descriptors.h"
#include "privileges.h"
#include "settings.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#define MOUNT_OPTIONS "allow_other,default_permissions,nosuid,nodev,fsname=casefs,subtype=casefs"

static volatile sig_atomic_t ending_signal, figures_wanted;

static void on_ending_signal(int number)
{
	ending_signal = number;
}

static void on_figures_signal(int number)
{
	(void)number;
	figures_wanted = 1;
}

static void on_init(void *userdata, struct fuse_conn_info *connection)
{
	/* Not even where it would be cheaper:
	 * - a cache of writes: a write() to a full store would succeed, and who writes until it is full would never end;
	 * - locks: they are the kernel's own, as there is one node for all spellings;
	 * - taking set-id bits away from what is written or cut: the kernel knows whose write it is, and the store sees root. */
	const unsigned unwanted = FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_POSIX_LOCKS |
				  FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA |
				  FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE;
	const unsigned wanted = FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_CACHE_SYMLINKS;

	(void)userdata;
	connection->want &= ~unwanted;
	connection->want |= connection->capable & wanted;
	connection->time_gran = 1;
	status_ready();
}

/* No flush and no lseek: the kernel does both itself. */
static const struct fuse_lowlevel_ops operations = {
	.init = on_init,
	.lookup = on_lookup,
	.forget = on_forget,
	.forget_multi = on_forget_multi,
	.getattr = on_getattr,
	.setattr = on_setattr,
	.readlink = on_readlink,
	.mknod = on_mknod,
	.mkdir = on_mkdir,
	.unlink = on_unlink,
	.rmdir = on_rmdir,
	.symlink = on_symlink,
	.rename = on_rename,
	.link = on_link,
	.open = on_open,
	.create = on_create,
	.read = on_read,
	.write = on_write,
	.release = on_release,
	.fsync = on_fsync,
	.fallocate = on_fallocate,
	.opendir = on_opendir,
	.readdir = on_readdir,
	.releasedir = on_releasedir,
	.statfs = on_statfs,
	.getxattr = on_getxattr,
	.listxattr = on_listxattr,
	.setxattr = on_setxattr,
	.removexattr = on_removexattr,
};

static int open_directory(const char *path, const char *step)
{
	int descriptor = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (descriptor < 0)
		status_failed(step, errno, path);
	return descriptor;
}

/* A tmpfs that is taken out of the tree once it is open: it lives as long as the descriptor, and no path leads to it. */
static int open_tmpfs(void)
{
	char options[64];
	int descriptor;

	snprintf(options, sizeof options, "mode=0755,size=%s", settings.tmpfs_size);
	if (mount("casefs-store", settings.mountpoint, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0) {
		status_failed("tmpfs", errno, settings.mountpoint);
		return -1;
	}
	descriptor = open_directory(settings.mountpoint, "tmpfs");
	if (umount2(settings.mountpoint, MNT_DETACH) != 0) {
		status_failed("tmpfs", errno, settings.mountpoint);
		return -1;
	}
	return descriptor;
}

static int open_store(void)
{
	if (settings.tmpfs_size)
		return open_tmpfs();
	return open_directory(settings.backing ? settings.backing : settings.mountpoint, "store");
}

/* libfuse says in words alone what is wrong with the device; the launcher needs to tell its absence from a missing capability. */
static bool device_opens(void)
{
	int descriptor = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (descriptor < 0)
		status_failed("device", errno, "/dev/fuse");
	else
		close(descriptor);
	return descriptor >= 0;
}

static struct fuse_session *mount_session(void)
{
	char program[] = "casefs", flag[] = "-o", options[] = MOUNT_OPTIONS;
	char *words[] = { program, flag, options, NULL };
	struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
	struct fuse_session *session = fuse_session_new(&arguments, &operations, sizeof operations, NULL);

	fuse_opt_free_args(&arguments);
	errno = 0;
	if (session && fuse_session_mount(session, settings.mountpoint) == 0)
		return session;
	status_failed("mount", errno ? errno : EINVAL, settings.mountpoint);
	if (session)
		fuse_session_destroy(session);
	return NULL;
}

/* The signals wait until nothing else does, so that none is missed and no request of the store's is interrupted. Returns the mask
 * to wait with. */
static sigset_t catch_signals(void)
{
	struct sigaction ending = { .sa_handler = on_ending_signal }, figures_signal = { .sa_handler = on_figures_signal };
	const int ending_signals[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t blocked, before;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
		sigaction(ending_signals[i], &ending, NULL);
		sigaddset(&blocked, ending_signals[i]);
	}
	sigaction(SIGUSR1, &figures_signal, NULL);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	return before;
}

/* After an answer the next request mostly follows at once, and to be woken up for it takes several times as long as to serve it.
 * So for a moment we ask instead of sleeping, as long as that is worth while: not after a moment in which nothing came, and now
 * and then not at all, since signals reach us asleep only. */
#define MOMENT_NS 50000
#define REQUESTS_BETWEEN_SLEEPS 256

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Receive a request, or an error; -EINTR after a signal. */
static int receive(struct fuse_session *session, struct fuse_buf *request, const sigset_t *waiting_mask)
{
	static bool requests_follow;
	static unsigned received;
	struct pollfd device = { .fd = fuse_session_fd(session), .events = POLLIN };
	const int64_t began = now_ns();
	int result = -EAGAIN;

	requests_follow = requests_follow && ++received % REQUESTS_BETWEEN_SLEEPS != 0;
	while (requests_follow && result == -EAGAIN && now_ns() - began < MOMENT_NS)
		result = fuse_session_receive_buf(session, request);
	if (result == -EAGAIN) {
		if (ppoll(&device, 1, NULL, waiting_mask) < 0)
			return -EINTR;
		result = fuse_session_receive_buf(session, request);
	}
	requests_follow = now_ns() - began < MOMENT_NS;
	return result;
}

/* Serve until a signal (1), the end of the mount (0), or an error (below 0). */
static int serve(struct fuse_session *session, const sigset_t *waiting_mask)
{
	const int device = fuse_session_fd(session);
	struct fuse_buf request = { .mem = NULL };
	int result = 1;

	/* A request may be withdrawn between the wait and the read, which would then block. */
	fcntl(device, F_SETFL, fcntl(device, F_GETFL) | O_NONBLOCK);
	while (!ending_signal && !fuse_session_exited(session)) {
		if (figures_wanted) {
			figures_wanted = 0;
			status_figures();
		}
		result = receive(session, &request, waiting_mask);
		if (result > 0)
			fuse_session_process_buf(session, &request);
		else if (result != -EINTR && result != -EAGAIN)
			break;
	}
	free(request.mem);
	return ending_signal ? 1 : result;
}

/* Say how it ended. The session is left to the kernel: we have given up the right to unmount, so that the mount answers ENOTCONN
 * until somebody who may takes it away, or the container ends. */
static int end(int result)
{
	if (ending_signal)
		status_ended_by_signal(ending_signal);
	else if (result < 0)
		status_ended_by_error(-result);
	else
		status_ended_by_unmount();
	return result < 0 ? EXIT_LOST : EXIT_ENDED;
}

int main(int argc, char **argv)
{
	static struct fuse_session *session;
	sigset_t waiting_mask;
	int store, error;

	settings_read(argc, argv);
	umask(0);
	waiting_mask = catch_signals();
	store = open_store();
	if (store < 0)
		return EXIT_NOT_MOUNTED;
	error = node_make_root(store);
	if (error) {
		status_failed("store", error, settings.mountpoint);
		return EXIT_NOT_MOUNTED;
	}
	session = device_opens() ? mount_session() : NULL;
	if (!session)
		return EXIT_NOT_MOUNTED;
	error = privileges_drop();
	if (error) {
		status_failed("privileges", error, settings.mountpoint);
		fuse_session_unmount(session);
		fuse_session_destroy(session);
		return EXIT_NOT_MOUNTED;
	}
	settings.sees_callers = settings.folding && privileges_see_callers();
	return end(serve(session, &waiting_mask));
}
