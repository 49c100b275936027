/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linked into what ThreadSanitizer looks at: gcc 12's does not know pthread_clockjoin_np, and takes
 * what a thread did that was joined so for a race. This joins with the call that it knows.
 */
#include <pthread.h>
#include <time.h>

int __wrap_pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				const struct timespec *until);

int __wrap_pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				const struct timespec *until)
{
	struct timespec now, wall;
	clock_gettime(clock, &now);
	clock_gettime(CLOCK_REALTIME, &wall);
	wall.tv_sec += until->tv_sec - now.tv_sec;
	wall.tv_nsec += until->tv_nsec - now.tv_nsec;
	if (wall.tv_nsec < 0) {
		wall.tv_sec--;
		wall.tv_nsec += 1000000000;
	} else if (wall.tv_nsec >= 1000000000) {
		wall.tv_sec++;
		wall.tv_nsec -= 1000000000;
	}
	return pthread_timedjoin_np(thread, value, &wall);
}
