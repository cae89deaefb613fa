/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads and memory beside the devices that they serve: NUMA nodes, as hwloc tells them.
 *
 * A thread that is put on a node runs on the processors of the node that the process may use, and
 * pages that it is the first to touch, pinned ones too, come from the node's memory while there is
 * some. Threads that it starts stand where it stands. hwloc is opened at run time: without it, and
 * on a machine with one node, nothing is ever bound. Nodes are numbered as the system numbers them
 * (lscpu). */
#ifndef CUZK_BASE_PLACEMENT_H
#define CUZK_BASE_PLACEMENT_H

#include "base/status.h"

enum { CUZK_PLACEMENT_ANYWHERE = -1 };

typedef struct cuzk_placement cuzk_placement;

/** Learn the machine's nodes; tens of milliseconds. Whatever keeps it from that is no error:
 *  cuzk_placement_note tells it, and threads are left where they are. Returned: free with
 *  cuzk_placement_destroy. Errors: E_MEMORY. Threads: one at a time. */
cuzk_status cuzk_placement_create(cuzk_placement **out, cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. No thread stands on one of its nodes any more. */
void cuzk_placement_destroy(cuzk_placement *placement);

/** Nodes that threads can be put on; 0: threads are left where they are. NULL counts as 0. */
unsigned cuzk_placement_n_nodes(const cuzk_placement *placement);

/** The system's number of node i < cuzk_placement_n_nodes. */
int cuzk_placement_node(const cuzk_placement *placement, unsigned i);

/** For people: "2 NUMA nodes: 0, 1", or why threads are left where they are. Lives as long as the
 *  placement. */
const char *cuzk_placement_note(const cuzk_placement *placement);

/** The node that a PCI function is closest to, such as "0000:41:00.0" (hexadecimal), also on a
 *  machine with one; CUZK_PLACEMENT_ANYWHERE: unknown, or to several alike. */
int cuzk_placement_of_pci(const cuzk_placement *placement, const char *address);

/** Put the calling thread on a node, or back where threads were at first
 *  (CUZK_PLACEMENT_ANYWHERE). No call of the system where it stands there. False: there is no such
 *  node, or the system does not let the thread run there; it is then anywhere. */
bool cuzk_placement_move(const cuzk_placement *placement, int node);

/* Where a thread stood. */
typedef struct {
    const cuzk_placement *placement;
    int node;
} cuzk_placement_spot;

/** For threads that must not stand where the one that starts them does: the calling thread goes
 *  anywhere, and back with cuzk_placement_return. */
cuzk_placement_spot cuzk_placement_leave(void);
void cuzk_placement_return(cuzk_placement_spot spot);

#endif
