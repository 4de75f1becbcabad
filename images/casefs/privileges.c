/* privileges.c: the capabilities that remain. Those that the daemon never had are simply not among them. */
#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int needed[] = {
	CAP_CHOWN,           /* new files are their makers' */
	CAP_DAC_OVERRIDE,    /* the kernel has checked permissions already; the store would check them against root */
	CAP_DAC_READ_SEARCH,
	CAP_FOWNER,          /* chmod and utimes for owners */
	CAP_FSETID,          /* set-group-id bits stay when their owners set them */
	CAP_SYS_PTRACE,      /* see caller.h */
};

static uint64_t needed_mask(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		mask |= (uint64_t)1 << needed[i];
	return mask;
}

int privileges_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t mask = needed_mask();

	/* The bounding set needs CAP_SETPCAP, and no child is ever started: without it, the rest is enough. */
	for (int capability = 0; capability <= CAP_LAST_CAP; capability++)
		if (!(mask >> capability & 1))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) != 0)
		return errno;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t part = (uint32_t)(mask >> 32 * i);

		data[i].permitted &= part;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data) != 0)
		return errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

static bool yama_forbids(void)
{
	int descriptor = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char scope = '0';
	bool read_it = descriptor >= 0 && read(descriptor, &scope, 1) == 1;

	if (descriptor >= 0)
		close(descriptor);
	return read_it && scope == '3';
}

bool privileges_see_callers(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return (data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE)) && !yama_forbids();
}
