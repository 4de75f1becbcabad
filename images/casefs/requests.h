/* requests.h: what the files of requests share: the answers, and the functions that main.c registers. */
#ifndef CASEFS_REQUESTS_H
#define CASEFS_REQUESTS_H

#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)

#include <fuse_lowlevel.h>

#include "node.h"

#include <sys/stat.h>

/* How long the kernel may believe what it was told: see answers.c for why no other values are right. */
#define FOR_EVER 1e9
#define NOT_AT_ALL 0.0

/* Answer with an error, or with success if it is 0. `operation` names the request on the status line. */
void answer_error(fuse_req_t request, int error, const char *operation);

/* Tell the kernel which node a name leads to. If it no longer wants to know, the node's lookup is taken back. */
void answer_entry(fuse_req_t request, struct node *node, const struct stat *attributes);

/* As answer_entry, for a name that was found by another spelling. */
void answer_other_spelling(fuse_req_t request, struct node *node, const struct stat *attributes);

/* As answer_entry, for a file that was opened at the same time. */
void answer_created(fuse_req_t request, struct node *node, const struct stat *attributes, struct fuse_file_info *file);

/* requests_names.c */
void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name);
void on_forget(fuse_req_t request, fuse_ino_t number, uint64_t count);
void on_forget_multi(fuse_req_t request, size_t count, struct fuse_forget_data *forgets);
void on_unlink(fuse_req_t request, fuse_ino_t parent, const char *name);
void on_rmdir(fuse_req_t request, fuse_ino_t parent, const char *name);

/* requests_making.c */
void on_mkdir(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode);
void on_mknod(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, dev_t device);
void on_symlink(fuse_req_t request, const char *target, fuse_ino_t parent, const char *name);
void on_link(fuse_req_t request, fuse_ino_t number, fuse_ino_t parent, const char *name);
void on_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *file);

/* requests_rename.c */
void on_rename(fuse_req_t request, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
	       unsigned flags);

/* requests_attributes.c */
void on_getattr(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file);
void on_setattr(fuse_req_t request, fuse_ino_t number, struct stat *wanted, int which, struct fuse_file_info *file);
void on_readlink(fuse_req_t request, fuse_ino_t number);
void on_statfs(fuse_req_t request, fuse_ino_t number);
void on_getxattr(fuse_req_t request, fuse_ino_t number, const char *name, size_t size);
void on_listxattr(fuse_req_t request, fuse_ino_t number, size_t size);
void on_setxattr(fuse_req_t request, fuse_ino_t number, const char *name, const char *value, size_t size, int flags);
void on_removexattr(fuse_req_t request, fuse_ino_t number, const char *name);

/* requests_files.c */
void on_open(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file);
void on_read(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *file);
void on_write(fuse_req_t request, fuse_ino_t number, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file);
void on_release(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file);
void on_fsync(fuse_req_t request, fuse_ino_t number, int data_only, struct fuse_file_info *file);
void on_fallocate(fuse_req_t request, fuse_ino_t number, int mode, off_t offset, off_t length, struct fuse_file_info *file);

/* How the store is opened for a caller: the kernel has found the file and the place to append at. */
int store_flags(int callers_flags);

/* requests_directories.c */
void on_opendir(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file);
void on_readdir(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *file);
void on_releasedir(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file);

#endif
