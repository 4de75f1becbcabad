"""The library that moves clocks: what waits until a moment waits as long as it would by the true clock, in C as anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not shutil.which("make") or not shutil.which("cc"), reason="the library is compiled, which takes make and a C compiler"
)

PROGRAM = r"""
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static struct timespec soon(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += 50000000;
    if (at.tv_nsec >= 1000000000) { at.tv_nsec -= 1000000000; at.tv_sec++; }
    return at;
}
static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *hold(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&lock);
    sleep(100);
    return unused;
}
static void condition(clockid_t clock)
{
    pthread_condattr_t how;
    pthread_cond_t one;
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    struct timespec at = soon(clock);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, clock);
    pthread_cond_init(&one, &how);
    pthread_mutex_lock(&own);
    pthread_cond_timedwait(&one, &own, &at);
}
static void timer(clockid_t clock)
{
    uint64_t times;
    struct itimerspec at = { .it_value = soon(clock) };
    int file = timerfd_create(clock, 0);
    timerfd_settime(file, TFD_TIMER_ABSTIME, &at, NULL);
    if (read(file, &times, sizeof times) < 0) perror("read");
}
int main(void)
{
    pthread_t holder;
    sem_t semaphore;
    struct timespec at;
    struct timeval seconds;
    double began;

    sem_init(&semaphore, 0, 0);
    pthread_create(&holder, NULL, hold, NULL);
    while (pthread_rwlock_tryrdlock(&lock) == 0) { pthread_rwlock_unlock(&lock); usleep(1000); }
#define TRY(name, wait) began = now(); wait; printf("%s %.3f\n", name, now() - began)
    TRY("condition", condition(CLOCK_REALTIME));
    TRY("monotonic-condition", condition(CLOCK_MONOTONIC));
    TRY("mutex", (at = soon(CLOCK_REALTIME), pthread_mutex_timedlock(&mutex, &at)));
    TRY("lock", (at = soon(CLOCK_REALTIME), pthread_rwlock_timedrdlock(&lock, &at)));
    TRY("join", (at = soon(CLOCK_REALTIME), pthread_timedjoin_np(holder, NULL, &at)));
    TRY("semaphore", (at = soon(CLOCK_REALTIME), sem_timedwait(&semaphore, &at)));
    TRY("sleep", (at = soon(CLOCK_REALTIME), clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL)));
    TRY("monotonic-sleep", (at = soon(CLOCK_MONOTONIC), clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL)));
    TRY("timer", timer(CLOCK_REALTIME));
    TRY("monotonic-timer", timer(CLOCK_MONOTONIC));
    gettimeofday(&seconds, NULL);
    printf("now %lld %lld\n", (long long)time(NULL), (long long)seconds.tv_sec);
    fflush(stdout);
    _exit(0);
}
"""
YEARS = 500_000_000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("waits")
    (folder / "waits.c").write_text(PROGRAM)
    command = ("cc", "-D_GNU_SOURCE", "-o", str(folder / "waits"), str(folder / "waits.c"), "-lpthread")
    subprocess.run(command, check=True)
    return folder / "waits"


@pytest.mark.parametrize("moved", [YEARS, -YEARS, 0])
def test_waits_until_a_moment_are_as_long_as_by_the_true_clock(program: Path, library: Path, moved: int) -> None:
    environment = {"PATH": os.environ["PATH"], "LD_PRELOAD": str(library), "PARITYGATE_CLOCK": f"{moved}000000000"}
    said = subprocess.run((str(program),), env=environment, capture_output=True, text=True, timeout=60, check=True)
    true = subprocess.run(("date", "+%s"), capture_output=True, text=True, check=True)
    *waits, (_, *moments) = [line.split() for line in said.stdout.splitlines()]
    assert [name for name, _ in waits] == [
        *("condition", "monotonic-condition", "mutex", "lock", "join", "semaphore"),
        *("sleep", "monotonic-sleep", "timer", "monotonic-timer"),
    ]
    assert [name for name, seconds in waits if float(seconds) < 0.049] == []
    assert [abs(int(moment) - moved - int(true.stdout)) < 30 for moment in moments] == [True, True]
