/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one place that touches hwloc. Its header gives names and numbers; the library is opened at
 * run time, so that a start of the program that asks for no device does not pay for it, and a
 * machine without it does without.
 *
 * A node's memory is preferred, not demanded: a full node must not fail a proof. */
#include "base/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 64, NOTE_MAX = 256 };

/* Where the calling thread stands; of no placement: where the process put it. */
static _Thread_local cuzk_placement_spot here = {NULL, CUZK_PLACEMENT_ANYWHERE};

#if CUZK_HAVE_HWLOC_HEADER
#include <dlfcn.h>
#include <hwloc.h>
#include <inttypes.h>
#include <pthread.h>

#define HWLOC_FUNCTIONS(X)                                                                         \
    X(hwloc_get_api_version)                                                                       \
    X(hwloc_topology_init)                                                                         \
    X(hwloc_topology_set_type_filter)                                                              \
    X(hwloc_topology_load)                                                                         \
    X(hwloc_topology_destroy)                                                                      \
    X(hwloc_get_nbobjs_by_depth)                                                                   \
    X(hwloc_get_obj_by_depth)                                                                      \
    X(hwloc_bitmap_alloc)                                                                          \
    X(hwloc_bitmap_free)                                                                           \
    X(hwloc_bitmap_and)                                                                            \
    X(hwloc_bitmap_iszero)                                                                         \
    X(hwloc_bitmap_first)                                                                          \
    X(hwloc_bitmap_weight)                                                                         \
    X(hwloc_get_cpubind)                                                                           \
    X(hwloc_set_cpubind)                                                                           \
    X(hwloc_get_membind)                                                                           \
    X(hwloc_set_membind)

#define DECLARE(name) __typeof__(&name) name;
static struct {
    HWLOC_FUNCTIONS(DECLARE)
    bool is_usable;
    char reason[NOTE_MAX];
} lib;
static pthread_once_t lib_once = PTHREAD_ONCE_INIT;

static bool load_symbol(void *library, void *function, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

#define FIND(name)                                                                                 \
    if (missing == NULL && !load_symbol(library, &lib.name, #name)) {                              \
        missing = #name;                                                                           \
    }

static void open_library(void)
{
    void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(lib.reason, sizeof lib.reason, "hwloc is not there (libhwloc15): %s", dlerror());
        return;
    }
    const char *missing = NULL;
    HWLOC_FUNCTIONS(FIND)
    if (missing != NULL) {
        snprintf(lib.reason, sizeof lib.reason, "libhwloc.so.15 has no function %s", missing);
    } else if (lib.hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16) {
        snprintf(lib.reason, sizeof lib.reason, "hwloc has interface %x, expected %x",
                 lib.hwloc_get_api_version() >> 16, HWLOC_API_VERSION >> 16);
    } else {
        lib.is_usable = true;
    }
}

typedef struct {
    int number;             /* the system's */
    hwloc_bitmap_t cpus;    /* of it, those that the process may use */
    hwloc_nodeset_t itself; /* the topology's */
} node;

struct cuzk_placement {
    hwloc_topology_t topology; /* NULL: none */
    hwloc_bitmap_t home;       /* processors that the process may use */
    node nodes[NODES_MAX];
    unsigned n_nodes; /* with processors that the process may use */
    bool is_used;     /* threads are bound */
    char note[NOTE_MAX];
};

/* Nodes and PCI devices; nothing asks the devices' own libraries. */
static bool load_topology(cuzk_placement *p)
{
    if (lib.hwloc_topology_init(&p->topology) != 0) {
        p->topology = NULL;
        return false;
    }
    return lib.hwloc_topology_set_type_filter(p->topology, HWLOC_OBJ_PCI_DEVICE,
                                              HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
           lib.hwloc_topology_load(p->topology) == 0;
}

static bool find_nodes(cuzk_placement *p)
{
    int n = lib.hwloc_get_nbobjs_by_depth(p->topology, HWLOC_TYPE_DEPTH_NUMANODE);
    for (int i = 0; i < n && p->n_nodes < NODES_MAX; i++) {
        hwloc_obj_t object =
            lib.hwloc_get_obj_by_depth(p->topology, HWLOC_TYPE_DEPTH_NUMANODE, (unsigned)i);
        hwloc_bitmap_t cpus = lib.hwloc_bitmap_alloc();
        if (cpus == NULL || lib.hwloc_bitmap_and(cpus, object->cpuset, p->home) != 0) {
            lib.hwloc_bitmap_free(cpus);
            return false;
        }
        if (lib.hwloc_bitmap_iszero(cpus)) { /* memory without processors, or not for us */
            lib.hwloc_bitmap_free(cpus);
            continue;
        }
        p->nodes[p->n_nodes++] = (node){(int)object->os_index, cpus, object->nodeset};
    }
    return true;
}

/* Whether memory comes from where it is first touched, as for a process that nobody told
 * otherwise; where the system does not say, it is taken to. */
static bool has_own_memory_policy(const cuzk_placement *p)
{
    hwloc_membind_policy_t policy = HWLOC_MEMBIND_DEFAULT;
    hwloc_bitmap_t set = lib.hwloc_bitmap_alloc();
    bool is_known =
        set != NULL && lib.hwloc_get_membind(p->topology, set, &policy,
                                             HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0;
    lib.hwloc_bitmap_free(set);
    return is_known && policy != HWLOC_MEMBIND_DEFAULT && policy != HWLOC_MEMBIND_FIRSTTOUCH &&
           policy != HWLOC_MEMBIND_MIXED; /* hwloc does not know */
}

static void describe(cuzk_placement *p)
{
    if (p->n_nodes < 2) {
        snprintf(p->note, sizeof p->note, "one NUMA node has all processors of this process");
        return;
    }
    if (has_own_memory_policy(p)) {
        snprintf(p->note, sizeof p->note,
                 "%u NUMA nodes, but the process was started with a memory policy of its own",
                 p->n_nodes);
        return;
    }
    p->is_used = true;
    int at = snprintf(p->note, sizeof p->note, "%u NUMA nodes:", p->n_nodes);
    for (unsigned i = 0; i < p->n_nodes && at < NOTE_MAX - 8; i++) {
        at += snprintf(p->note + at, sizeof p->note - (size_t)at, "%s %d", i > 0 ? "," : "",
                       p->nodes[i].number);
    }
}

static void learn(cuzk_placement *p)
{
    pthread_once(&lib_once, open_library);
    if (!lib.is_usable) {
        snprintf(p->note, sizeof p->note, "%s", lib.reason);
        return;
    }
    if (!load_topology(p)) {
        snprintf(p->note, sizeof p->note, "hwloc cannot read this machine's topology");
        return;
    }
    p->home = lib.hwloc_bitmap_alloc();
    if (p->home == NULL || lib.hwloc_get_cpubind(p->topology, p->home, HWLOC_CPUBIND_THREAD) != 0 ||
        !find_nodes(p)) {
        snprintf(p->note, sizeof p->note, "hwloc cannot tell the processors of this process");
        return;
    }
    describe(p);
}

static void free_topology(cuzk_placement *p)
{
    if (p->topology == NULL) {
        return;
    }
    for (unsigned i = 0; i < p->n_nodes; i++) {
        lib.hwloc_bitmap_free(p->nodes[i].cpus);
    }
    lib.hwloc_bitmap_free(p->home);
    lib.hwloc_topology_destroy(p->topology);
}

/* The nodes of the nearest object that has some. */
static int node_around(const struct hwloc_obj *object)
{
    while (object != NULL && object->nodeset == NULL) {
        object = object->parent;
    }
    return object != NULL && lib.hwloc_bitmap_weight(object->nodeset) == 1
               ? lib.hwloc_bitmap_first(object->nodeset)
               : CUZK_PLACEMENT_ANYWHERE;
}

int cuzk_placement_of_pci(const cuzk_placement *p, const char *address)
{
    unsigned domain, bus, slot, function;
    char more;
    if (p == NULL || p->topology == NULL ||
        address[strspn(address, "0123456789abcdefABCDEF:.")] != '\0' ||
        sscanf(address, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &more) != 4) {
        return CUZK_PLACEMENT_ANYWHERE;
    }
    int n = lib.hwloc_get_nbobjs_by_depth(p->topology, HWLOC_TYPE_DEPTH_PCI_DEVICE);
    for (int i = 0; i < n; i++) {
        hwloc_obj_t object =
            lib.hwloc_get_obj_by_depth(p->topology, HWLOC_TYPE_DEPTH_PCI_DEVICE, (unsigned)i);
        const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;
        if (pci->domain == domain && pci->bus == bus && pci->dev == slot && pci->func == function) {
            return node_around(object->parent);
        }
    }
    return CUZK_PLACEMENT_ANYWHERE;
}

static bool go_home(const cuzk_placement *p)
{
    bool is_free = lib.hwloc_set_cpubind(p->topology, p->home, HWLOC_CPUBIND_THREAD) == 0;
    (void)lib.hwloc_set_membind(p->topology, p->nodes[0].itself, HWLOC_MEMBIND_DEFAULT,
                                HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
    return is_free;
}

/* The memory's part may be refused (containers): memory is then that of the processors that touch
 * it first, which are the node's. */
static bool go_to(const cuzk_placement *p, int number)
{
    for (unsigned i = 0; i < p->n_nodes; i++) {
        const node *to = &p->nodes[i];
        if (to->number == number &&
            lib.hwloc_set_cpubind(p->topology, to->cpus, HWLOC_CPUBIND_THREAD) == 0) {
            (void)lib.hwloc_set_membind(p->topology, to->itself, HWLOC_MEMBIND_BIND,
                                        HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
            return true;
        }
    }
    return false;
}

bool cuzk_placement_move(const cuzk_placement *p, int number)
{
    if (p == NULL || !p->is_used) {
        return number == CUZK_PLACEMENT_ANYWHERE;
    }
    if (here.node == number && (here.placement == p || number == CUZK_PLACEMENT_ANYWHERE)) {
        return true;
    }
    bool is_there = number != CUZK_PLACEMENT_ANYWHERE && go_to(p, number);
    if (is_there) {
        here = (cuzk_placement_spot){p, number};
        return true;
    }
    here = (cuzk_placement_spot){NULL, CUZK_PLACEMENT_ANYWHERE};
    return go_home(p) && number == CUZK_PLACEMENT_ANYWHERE;
}

#else

struct cuzk_placement {
    struct {
        int number;
    } nodes[1];
    unsigned n_nodes;
    bool is_used;
    char note[NOTE_MAX];
};

static void learn(cuzk_placement *p)
{
    snprintf(p->note, sizeof p->note, "this program was built without hwloc");
}

static void free_topology(cuzk_placement *p)
{
    (void)p;
}

int cuzk_placement_of_pci(const cuzk_placement *p, const char *address)
{
    (void)p;
    (void)address;
    return CUZK_PLACEMENT_ANYWHERE;
}

bool cuzk_placement_move(const cuzk_placement *p, int number)
{
    (void)p;
    return number == CUZK_PLACEMENT_ANYWHERE;
}

#endif

cuzk_status cuzk_placement_create(cuzk_placement **out, cuzk_error *err)
{
    cuzk_placement *p = calloc(1, sizeof *p);
    CUZK_FAIL_IF(p == NULL, err, CUZK_E_MEMORY, "NUMA nodes: out of memory");
    learn(p);
    *out = p;
    return CUZK_OK;
}

void cuzk_placement_destroy(cuzk_placement *p)
{
    if (p != NULL) {
        free_topology(p);
        free(p);
    }
}

unsigned cuzk_placement_n_nodes(const cuzk_placement *p)
{
    return p != NULL && p->is_used ? p->n_nodes : 0;
}

int cuzk_placement_node(const cuzk_placement *p, unsigned i)
{
    return p->nodes[i].number;
}

const char *cuzk_placement_note(const cuzk_placement *p)
{
    return p->note;
}

cuzk_placement_spot cuzk_placement_leave(void)
{
    cuzk_placement_spot spot = here;
    (void)cuzk_placement_move(spot.placement, CUZK_PLACEMENT_ANYWHERE);
    return spot;
}

void cuzk_placement_return(cuzk_placement_spot spot)
{
    (void)cuzk_placement_move(spot.placement, spot.node);
}
