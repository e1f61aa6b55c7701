/* Moves 1 from the first account to the second, three times: two writes that belong together. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    int64_t accounts[2] = {100, 0};
    int file = open("accounts", O_RDWR | O_CREAT, 0644);
    int directory = open(".", O_RDONLY | O_DIRECTORY);
    if (file < 0 || directory < 0 || pwrite(file, accounts, sizeof accounts, 0) < 0 ||
        fsync(file) < 0 || fsync(directory) < 0)
        return 1;
    for (int number = 1; number <= 3; number++) {
        accounts[0] -= 1;
        accounts[1] += 1;
        if (pwrite(file, &accounts[0], sizeof accounts[0], 0) < 0 ||
            pwrite(file, &accounts[1], sizeof accounts[1], sizeof accounts[0]) < 0 ||
            fsync(file) < 0)
            return 1;
        printf("moved %d\n", number);
        fflush(stdout);
    }
    return 0;
}
