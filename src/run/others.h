/* CPU time of others than this program. */
#ifndef AS_RUN_OTHERS_H
#define AS_RUN_OTHERS_H

/* Seconds of CPU time since some start that all other processes have used, and that the hypervisor gave to other
 * guests; NAN unknown. Workers count as others until they have ended. */
double as_others_seconds(void);
/* The same from a line "cpu 1 2 3 ..." of the kernel with `ticks` per second, and the seconds that are this program's
 * own. */
double as_others_of(const char *line, double ticks, double own);

#endif
