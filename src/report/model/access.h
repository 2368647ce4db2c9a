/* Who reaches which memory, and how fast: CPU threads of each NUMA node and each device, in the host's memory by node
 * and in that of each device. Latency of a load and bandwidth of reads, joined from the cells of six probes. */
#ifndef AS_REPORT_ACCESS_H
#define AS_REPORT_ACCESS_H

#include "report/model/view_table.h"

/* What a caption says of the table. */
extern const char as_access_caption[];
/* Are numbers known of more than one pair of agent and memory? */
bool as_access_any(const struct as_report_run *run);
/* Is the probe about agents in memories that are not their own? Then the terminal shows the table with it. */
bool as_access_is_of(const char *probe);
/* The table: a row per agent, first of latency, then of bandwidth. *out is the caller's (as_view_finish). */
void as_access_view(const struct as_report_run *run, struct as_view_table *out);

#endif
