/* Makes every durable call that is recorded, each so that a wrong reading of it shows. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(long result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
}
#define MUST(call) must((long)(call), #call)

static char page[3 * 4096 + 100];

static void contents(void) {
    int fd, copy, other;
    struct iovec parts[2] = {{"one", 3}, {"two\n", 4}};
    MUST(fd = open("plain", O_RDWR | O_CREAT | O_EXCL, 0640));
    MUST(write(fd, "hello, world\n", 13));
    MUST(pwrite(fd, "J", 1, 0));
    MUST(writev(fd, parts, 2));
    MUST(pwritev(fd, parts, 2, 30));
    MUST(pwritev2(fd, parts, 2, -1, RWF_DSYNC));
    MUST(pwritev2(fd, parts, 1, 0, RWF_APPEND));
    MUST(lseek(fd, -4, SEEK_END));
    MUST(copy = dup(fd));
    MUST(write(copy, "dup", 3)); /* shares the offset */
    MUST(write(fd, "ed", 2));
    MUST(fcntl(copy, F_SETFL, O_APPEND)); /* of the description: of both */
    MUST(lseek(fd, 0, SEEK_SET));
    MUST(write(fd, "end", 3));
    MUST(fcntl(fd, F_SETFL, 0));
    MUST(lseek(fd, 2, SEEK_SET));
    MUST(read(fd, page, 3)); /* moves the offset */
    MUST(write(fd, "read", 4));
    MUST(ftruncate(fd, 20));
    MUST(truncate("plain", 9000));
    MUST(fallocate(fd, 0, 8000, 4000));
    MUST(fallocate(fd, FALLOC_FL_KEEP_SIZE, 20000, 4096));
    MUST(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5, 10));
    MUST(fsync(fd));
    MUST(fdatasync(fd));
    MUST(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER));
    MUST(syncfs(fd));
    memset(page, 'p', sizeof page);
    MUST(pwrite(fd, page, sizeof page, 100)); /* several pages */
    MUST(other = open("copied", O_RDWR | O_CREAT | O_TRUNC | O_SYNC, 0600));
    MUST(lseek(fd, 0, SEEK_SET));
    MUST(copy_file_range(fd, NULL, other, NULL, 50, 0));
    off_t from = 3, to = 60;
    MUST(copy_file_range(fd, &from, other, &to, 7, 0));
    MUST(write(other, "after", 5));
    MUST(sendfile(other, fd, NULL, 11));
    int ends[2];
    MUST(pipe(ends));
    MUST(write(ends[1], "through a pipe", 14));
    MUST(splice(ends[0], NULL, other, NULL, 14, 0));
    MUST(fchmod(other, 0444));
    MUST(write(other, "though read-only", 16));
    MUST(close(other));
    MUST(close(fd));
    MUST(fd = open("plain", O_WRONLY | O_APPEND | O_DSYNC));
    MUST(write(fd, "appended", 8));
    MUST(open("plain", O_RDONLY | O_CREAT, 0600)); /* it is there: nothing happens */
    MUST(open("plain", O_WRONLY | O_TRUNC));
    MUST(write(fd, "anew", 4));
    if (open("missing/x", O_WRONLY | O_CREAT, 0600) >= 0 || errno != ENOENT) exit(2);
    if (open("plain", O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0 || errno != EEXIST) exit(3);
}

static void names(void) {
    int top, sub, fd;
    MUST(umask(027));
    MUST(mkdir("sub", 0777));
    MUST(top = open(".", O_RDONLY | O_DIRECTORY));
    MUST(sub = openat(top, "sub", O_RDONLY | O_DIRECTORY));
    MUST(mkdirat(sub, "deep", 0700));
    MUST(fd = openat(sub, "deep/../file", O_WRONLY | O_CREAT, 0666));
    MUST(write(fd, "x", 1));
    MUST(symlink("sub", "way"));
    MUST(symlinkat("../plain", sub, "back"));
    MUST(chdir("way/deep"));
    MUST(fd = open("../back", O_WRONLY | O_APPEND));
    MUST(write(fd, " by a link", 10));
    MUST(link("../file", "second"));
    MUST(linkat(sub, "file", top, "third", 0));
    MUST(fd = open("second", O_WRONLY | O_APPEND));
    MUST(rename("second", "../renamed"));
    MUST(write(fd, "y", 1)); /* to a file that has another name by now */
    MUST(renameat(sub, "renamed", sub, "file")); /* one file: nothing happens */
    MUST(unlinkat(sub, "renamed", 0));
    MUST(fchdir(top));
    MUST(syscall(SYS_renameat2, top, "plain", sub, "file", RENAME_EXCHANGE));
    MUST(syscall(SYS_renameat2, top, "copied", top, "moved", RENAME_NOREPLACE));
    MUST(rename("moved", "plain"));
    MUST(fsync(top));
    MUST(rename("sub", "dir"));
    MUST(fd = openat(sub, "deep/late", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    MUST(write(fd, "late", 4));
    MUST(unlink("dir/deep/late"));
    MUST(write(fd, "nobody sees this", 16));
    MUST(unlinkat(sub, "deep", AT_REMOVEDIR));
    MUST(chmod("dir", 0750));
    MUST(fchmodat(sub, "file", 0604, 0));
    MUST(mkdir("empty", 0755));
    MUST(rmdir("empty"));
    MUST(mknodat(top, "node", S_IFREG | 0666, 0));
    char name[64];
    fd = open(".", O_TMPFILE | O_RDWR, 0640);
    if (fd >= 0) {
        MUST(write(fd, "born without a name", 19));
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        MUST(linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
        MUST(write(fd, "!", 1));
    }
    sync();
}

static void processes(char *self) {
    int fd, status;
    MUST(fd = open("shared", O_WRONLY | O_CREAT, 0666));
    MUST(write(fd, "parent ", 7));
    pid_t child = fork();
    if (child == 0) {
        MUST(write(fd, "child ", 6));
        MUST(chdir("dir"));
        MUST(open("in-dir", O_WRONLY | O_CREAT, 0666));
        char number[16];
        snprintf(number, sizeof number, "%d", fd);
        MUST(execl(self, self, number, NULL));
    }
    MUST(waitpid(child, &status, 0));
    if (status != 0) exit(4);
    MUST(write(fd, "parent again\n", 13));
    MUST(open("here", O_WRONLY | O_CREAT, 0666)); /* not where the child went */
    MUST(dup2(1, 99));
    MUST(write(99, "printed\n", 8));
    MUST(dup2(fd, 1));
    MUST(write(1, "no print\n", 9));
    MUST(dup2(99, 1));
    MUST(write(1, "printed again\n", 14));
}

int main(int argc, char **argv) {
    if (argc > 1) {
        int fd = atoi(argv[1]); /* inherited across execve */
        MUST(write(fd, "program ", 8));
        MUST(open("by-program", O_WRONLY | O_CREAT, 0666));
        return 0;
    }
    umask(022);
    contents();
    names();
    processes(argv[0]);
    return 0;
}
